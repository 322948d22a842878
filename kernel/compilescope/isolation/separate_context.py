"""Runs work in a separate context, so that context variables set in it are discarded.

Each time that torch patches a module of settings, it creates a context variable and leaves it in
the context, where it cannot be removed.
"""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")


def in_separate_context(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Makes a function run in a copy of its caller's context."""

    @functools.wraps(function)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return contextvars.copy_context().run(function, *args, **kwargs)

    return run
