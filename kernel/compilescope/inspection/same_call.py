"""Whether a call repeats an earlier one, so that the earlier measurements still apply."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from ..isolation.global_state import SavedModes
from ..isolation.object_walk import walk
from ..subject.functions import functions_of
from ..torch_api.operators.tensors import sizes
from ..torch_api.trace import compiled_callable


def call_key(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[object, ...]:
    """A key that is equal for calls that torch compiles to the same code.

    It covers the code of the functions that the call reaches, its tensors except their values, the
    state of its modules, and torch's modes. Numbers that the code reads from globals and objects
    are left out: many are counters.
    """
    functions = sorted(
        (
            function_type.__module__ or "",
            function_type.__qualname__,
            _digest(function_type.__code__),
        )
        for function_type in functions_of(fn, args, kwargs)
    )
    tensors = [
        (str(tensor.dtype), str(tensor.device), tuple(sizes(tensor)), tensor.requires_grad)
        for tensor in walk(fn, args, kwargs).tensors().values()
    ]
    module = fn if isinstance(fn, torch.nn.Module) else compiled_callable.module_of(fn)
    modules = list(module.modules()) if isinstance(module, torch.nn.Module) else []
    settings = [
        (type(submodule).__qualname__, submodule.training, submodule.extra_repr())
        for submodule in modules
    ]
    return tuple(functions), tuple(tensors), tuple(settings), repr(SavedModes().now())


def _digest(code: types.CodeType) -> str:
    """Equal for equal code, wherever it is defined."""
    constants = [
        _digest(constant) if isinstance(constant, types.CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    parts = [code.co_code.hex(), repr(code.co_names), repr(code.co_freevars), *constants]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
