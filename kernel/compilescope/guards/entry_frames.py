"""The first frame of a call, and its local values there."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..torch_api.guards.guard_managers import KeptGuards
from ..torch_api.trace import compiled_callable
from ..torch_api.trace.entered_functions import closure_values, entered_functions


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
    frames = [
        _frame(function, [*first, *args], kwargs) for function, first in entered_functions(fn)
    ]
    wrapped = compiled_callable.module_of(fn) or fn
    inside = {"args": tuple(args), "kwargs": dict(kwargs), "fn": wrapped}
    return [*frames, EntryFrame(None, inside)]


def _frame(
    function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> EntryFrame:
    bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    bound.apply_defaults()
    f_locals = {**bound.arguments, **closure_values(function)}
    return EntryFrame(function.__code__, f_locals)


def _place(code: types.CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_name
