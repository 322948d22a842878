"""Whether other processes competed with a measurement for the processors."""

from __future__ import annotations

from ...report import Timing

_SHARE = 0.1
"""The share of the machine that others may use beyond the free processors: a browser, a server,
this notebook. What the kernel's ticks of 10 ms add by chance is less."""
_MAX_PROCESSORS = 0.5
"""The largest such use, in processors."""


def competing(timing: Timing) -> bool:
    """Return whether other processes used processors that the timed call needed.

    A call on a GPU needs one processor, for its launches.
    """
    if timing.other_processors is None:
        return False
    needed = timing.threads if timing.device == "cpu" else 1
    free = max(0, timing.processors - needed)
    return timing.other_processors > free + min(_SHARE * timing.processors, _MAX_PROCESSORS)
