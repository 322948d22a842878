"""The first frame of a call, and its local values there."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from ..torch_api.guards.guard_managers import KeptGuards
from ..torch_api.trace import compiled_callable


class EntryFrame(NamedTuple):
    """A function that a call may enter first, and how the call fills its names."""

    code: types.CodeType | None
    """None for the function that Dynamo puts around what is not written in Python."""
    f_locals: dict[str, Any]

    def is_of(self, guards: KeptGuards) -> bool:
        """Whether guards are those of this frame; functions run copies of their code meanwhile."""
        if self.code is None:
            around = guards.calls() if guards.calls is not None else self.f_locals["fn"]
            return compiled_callable.is_wrapper_code(guards.code) and around is self.f_locals["fn"]
        return _place(self.code) == _place(guards.code)


def entry_frames(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[EntryFrame]:
    """The frames by which Dynamo may enter a call: it compiles one of them.

    Parameters
    ----------
    fn
        The callable, under every ``torch.compile``.

    Raises
    ------
    TypeError
        The call does not fit the signature.
    """
    frames = [_frame(function, [*first, *args], kwargs) for function, first in _functions(fn)]
    wrapped = compiled_callable.module_of(fn) or fn
    inside = {"args": tuple(args), "kwargs": dict(kwargs), "fn": wrapped}
    return [*frames, EntryFrame(None, inside)]


def entry_functions(fn: Callable[..., Any]) -> list[types.FunctionType]:
    """The functions whose frames Dynamo may enter for a call."""
    return [function for function, _ in _functions(fn)]


def _functions(fn: Any) -> Iterator[tuple[types.FunctionType, list[Any]]]:
    """Functions with what stands before the call's own arguments."""
    if isinstance(fn, types.FunctionType):
        yield fn, []
    elif isinstance(fn, types.MethodType):
        for function, first in _functions(fn.__func__):
            yield function, [*first, fn.__self__]
        if isinstance(fn.__self__, torch.nn.Module) and fn.__func__ is torch.nn.Module._call_impl:
            yield from _functions(fn.__self__.forward)
    elif isinstance(fn, torch.nn.Module):
        yield from _functions(fn.forward)
        call_impl: Any = torch.nn.Module._call_impl
        yield call_impl, [fn]
    elif not isinstance(fn, (functools.partial, type)):
        call = inspect.getattr_static(type(fn), "__call__", None)
        if isinstance(call, types.FunctionType):
            yield call, [fn]


def _frame(
    function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> EntryFrame:
    bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    f_locals = dict(bound.arguments)
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):  # not assigned yet
            f_locals[name] = cell.cell_contents
    return EntryFrame(code, f_locals)


def _place(code: types.CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name
