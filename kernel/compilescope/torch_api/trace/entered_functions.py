"""The functions whose frames Dynamo may enter for a call of a callable."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch


def entry_functions(fn: Callable[..., Any]) -> list[types.FunctionType]:
    """The functions whose frames Dynamo may enter for a call."""
    return [function for function, _ in entered_functions(fn)]


def entered_functions(fn: Any) -> Iterator[tuple[types.FunctionType, list[Any]]]:
    """Functions with what stands before the call's own arguments."""
    if isinstance(fn, types.FunctionType):
        yield fn, []
    elif isinstance(fn, types.MethodType):
        for function, first in entered_functions(fn.__func__):
            yield function, [*first, fn.__self__]
        if isinstance(fn.__self__, torch.nn.Module) and fn.__func__ is torch.nn.Module._call_impl:
            yield from entered_functions(fn.__self__.forward)
    elif isinstance(fn, torch.nn.Module):
        yield from entered_functions(fn.forward)
        call_impl: Any = torch.nn.Module._call_impl
        yield call_impl, [fn]
    elif not isinstance(fn, (functools.partial, type)):
        call = inspect.getattr_static(type(fn), "__call__", None)
        if isinstance(call, types.FunctionType):
            yield call, [fn]


def closure_values(function: types.FunctionType) -> dict[str, Any]:
    """The values of a function's closure by name, except names without a value."""
    values = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not assigned yet
            values[name] = cell.cell_contents
    return values
