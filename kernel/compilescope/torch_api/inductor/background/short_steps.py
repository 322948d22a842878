"""A thread that works in short steps, so that calls in other threads hardly wait for it.

A call that launches kernels releases the GIL at each launch. If another thread works all the time,
the call waits for it after each of them, for as long as the switch interval.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_STEP_S = 0.0001
_PAUSE_S = 0.002
"""Longer than the calls that would notice a step."""


class _Steps(threading.local):
    end: float | None = None


_steps = _Steps()


@contextmanager
def in_short_steps() -> Iterator[None]:
    """In the block, `pause_if_due` pauses this thread."""
    before, _steps.end = _steps.end, time.perf_counter() + _STEP_S
    try:
        yield
    finally:
        _steps.end = before


def pause_if_due() -> None:
    """Pauses for 2 ms, without the GIL, if this thread has worked for 0.1 ms since the last pause.

    Python's profiling hooks could do this anywhere. From Python 3.12 they would slow down the calls
    in other threads as well.
    """
    if _steps.end is not None and time.perf_counter() > _steps.end:
        time.sleep(_PAUSE_S)
        _steps.end = time.perf_counter() + _STEP_S
