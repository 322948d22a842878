"""Calls that come right before a profiled one, so that it runs as in a loop."""

from __future__ import annotations

import time
from collections.abc import Callable

from .sampler import LONG_NS
from .stopwatch import Call

_CALLS = 3
"""After other allocations, so many calls in a row find their buffers where the allocator keeps
them."""


class WarmCalls:
    """Calls several times, unless a call takes long; called before each profiled call.

    What the profiler records takes pieces of the memory that the previous call freed. The next call
    then maps new pages, which takes the kernels that write to them many times as long.

    Parameters
    ----------
    check
        Called first; may raise to stop.
    """

    def __init__(self, call: Call, check: Callable[[], object] = lambda: None) -> None:
        self._call = call
        self._check = check
        self._is_long = False

    def __call__(self) -> None:
        """Runs the check, then the calls."""
        self._check()
        for _ in range(_CALLS):
            if self._is_long:
                return
            start = time.perf_counter_ns()
            self._call()
            self._is_long = time.perf_counter_ns() - start >= LONG_NS
