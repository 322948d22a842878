"""Python's switch interval, shortened while threads have to switch more often."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_wanted_s: list[float] = []
_usual_s = 0.0
"""The process's own, while any block runs."""
_set_s = 0.0
"""What these blocks have set last, as Python rounds it."""


@contextmanager
def switch_interval_at_most(seconds: float) -> Iterator[None]:
    """Threads that wait for the GIL get it sooner in the block.

    Such blocks may overlap, in any threads: the shortest interval counts. The last one to end
    restores the process's own, or leaves what other code has set meanwhile.
    """
    with _lock:
        _read_usual()
        _wanted_s.append(seconds)
        _apply()
    try:
        yield
    finally:
        with _lock:
            _read_usual()
            _wanted_s.remove(seconds)
            _apply()


def _read_usual() -> None:
    global _usual_s
    current = sys.getswitchinterval()
    if not _wanted_s or current != _set_s:
        _usual_s = current


def _apply() -> None:
    global _set_s
    sys.setswitchinterval(min([_usual_s, *_wanted_s]))
    _set_s = sys.getswitchinterval()
