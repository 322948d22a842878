"""How busy other processes kept the processors during a measurement."""

from __future__ import annotations

import os
import time

import psutil

_MIN_SECONDS = 0.2
"""Below this, the kernel's ticks of 10 ms are too coarse."""


def usable_processors() -> list[int]:
    """Return the numbers of the logical processors on which this process may run."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(psutil.cpu_count() or 1))


class OtherLoad:
    """Counts the processor time of other processes from its creation on.

    Another virtual machine's time ("steal") counts, too.

    Attributes
    ----------
    usable : list[int]
        The numbers of the logical processors on which this process may run, which are the ones
        observed.
    """

    def __init__(self) -> None:
        self.usable = usable_processors()
        self._started = time.monotonic()
        self._busy, self._own = self._times()

    def _times(self) -> tuple[float, float]:
        """The busy seconds of the processors, and those of this process."""
        each = psutil.cpu_times(percpu=True)
        busy = 0.0
        for number in self.usable:
            times = each[number]
            # Linux counts the time of a guest as user time, too.
            idle = times.idle + getattr(times, "iowait", 0.0)
            guest = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
            busy += sum(times) - idle - guest
        own = psutil.Process().cpu_times()
        return busy, own.user + own.system

    def processors(self) -> float | None:
        """Return how many processors others used on average; None within the first 0.2 s.

        Examples
        --------
        >>> OtherLoad().processors() is None
        True
        """
        passed = time.monotonic() - self._started
        if passed < _MIN_SECONDS:
            return None
        busy, own = self._times()
        return max(0.0, (busy - self._busy) - (own - self._own)) / passed
