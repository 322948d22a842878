"""Work in a context of its own: what is set in context variables meanwhile goes with it.

torch makes a context variable for each time that it patches a module of settings, and leaves it in
the context, where nobody can remove it.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def in_own_context(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Has a function run in a copy of its caller's context."""

    @functools.wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return contextvars.copy_context().run(function, *args, **kwargs)

    return run
