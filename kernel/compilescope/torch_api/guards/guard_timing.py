"""Turns off Dynamo's timing of new guards.

Dynamo times every new guard tree once and flushes the caches for it: some 30 ms, a good part of a
small capture, for a figure that a capture does not need. Relies on
``torch._dynamo.guards.profile_guard_manager``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from torch._dynamo import guards

from ..process.patching import patched

_untimed: ContextVar[bool] = ContextVar("compilescope_untimed", default=False)


@contextlib.contextmanager
def untimed() -> Iterator[None]:
    """Keeps Dynamo from timing the guards that it creates in this context."""
    token = _untimed.set(True)
    try:
        with patched(guards, "profile_guard_manager", _profile):
            yield
    finally:
        _untimed.reset(token)


def _profile(original: Any, *args: Any) -> float:
    return 0.0 if _untimed.get() else float(original(*args))
