"""Threads for what a call of the user's need not wait for."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator

_lock = threading.Lock()
_threads: set[threading.Thread] = set()
_SWITCH_S = 0.0002
"""How long a thread of these keeps Python's lock from one that waits for it; Python's own value is
25 times that, longer than many a call."""


def run(work: Callable[[], None]) -> bool:
    """Does work in a thread of its own; whether there is one, or it is not done.

    The interpreter waits for it before it ends: torch's code must not run beyond that.
    """

    def whole() -> None:
        try:
            work()
        finally:
            with _lock:
                _threads.discard(threading.current_thread())

    thread = threading.Thread(target=whole, name="compilescope-tiers-background", daemon=False)
    with _lock:
        _threads.add(thread)
    try:
        thread.start()
    except RuntimeError:
        # There are too many threads, or the interpreter ends.
        with _lock:
            _threads.discard(thread)
        return False
    return True


@contextlib.contextmanager
def giving_way() -> Iterator[None]:
    """In the block threads hand Python's lock over sooner."""
    before = sys.getswitchinterval()
    if before > _SWITCH_S:
        sys.setswitchinterval(_SWITCH_S)
    now = sys.getswitchinterval()
    try:
        yield
    finally:
        # Unless somebody else has set it meanwhile.
        if before > _SWITCH_S and sys.getswitchinterval() == now:
            sys.setswitchinterval(before)


def wait(timeout_s: float | None = None) -> bool:
    """Waits until all of it is done; whether that came in time."""
    end = None if timeout_s is None else time.monotonic() + timeout_s
    while True:
        with _lock:
            thread = next(iter(_threads), None)
        if thread is None:
            return True
        thread.join(None if end is None else max(0.0, end - time.monotonic()))
        if end is not None and time.monotonic() >= end:
            with _lock:
                return not _threads


def after_fork() -> None:
    """In a child process: its threads are not here."""
    global _lock
    _lock = threading.Lock()
    _threads.clear()
