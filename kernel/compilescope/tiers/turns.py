"""The calls after a swap, served by both wrappers in turns and timed: what the swap gained."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable
from typing import Any

from ..report.tiers import Gain
from ..torch_api.inductor.both_wrappers import Inner, is_capturing

CALLS = 15
"""Of each wrapper, after one that does not count: it is slower."""


class Turns:
    """Serves calls by both wrappers in turns and times them, until there are enough.

    Each call runs once, as it would anyway: both give the same results. In turns they meet the
    same load of the machine.

    Parameters
    ----------
    first, second
        The wrapper that was replaced, and the one that replaced it.
    is_host_time
        Whether the graph runs on a device that a call does not wait for.
    settle
        Called once, in the thread of the last call, with what was measured.
    """

    def __init__(
        self,
        first: Inner,
        second: Inner,
        *,
        is_host_time: bool,
        settle: Callable[[Gain], None],
    ) -> None:
        self.second = second
        self._wrappers = (first, second)
        self._is_host_time = is_host_time
        self._settle = settle
        self._turn = threading.Lock()
        self._times_us: tuple[list[float], list[float]] = ([], [])
        self._is_settled = False

    def __call__(self, inputs: list[Any]) -> Any:
        """A call of the graph; calls beside it in other threads take the new wrapper, untimed."""
        if is_capturing() or not self._turn.acquire(blocking=False):
            return self.second(inputs)
        try:
            if self._is_settled:
                return self.second(inputs)
            return self._timed(inputs)
        finally:
            self._turn.release()

    def after_fork(self) -> None:
        """The thread that timed a call, if any, is not in this process."""
        self._turn = threading.Lock()

    def _timed(self, inputs: list[Any]) -> Any:
        first_us, second_us = self._times_us
        which = int(len(first_us) > len(second_us))
        start = time.perf_counter()
        result = self._wrappers[which](inputs)
        self._times_us[which].append((time.perf_counter() - start) * 1e6)
        if len(second_us) > CALLS:
            self._is_settled = True
            self._settle(self._gain())
        return result

    def _gain(self) -> Gain:
        first_us, second_us = (times[1:] for times in self._times_us)
        return Gain(
            python_us=statistics.median(first_us),
            cpp_us=statistics.median(second_us),
            python_quartiles_us=_quartiles(first_us),
            cpp_quartiles_us=_quartiles(second_us),
            calls=len(second_us),
            is_host_time=self._is_host_time,
        )


def _quartiles(times: list[float]) -> tuple[float, float]:
    low, _, high = statistics.quantiles(times, n=4)
    return low, high
