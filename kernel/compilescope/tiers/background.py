"""Threads for work that a user's call does not wait for."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from ..isolation.switch_interval import at_most

_lock = threading.Lock()
_threads: set[threading.Thread] = set()
_SWITCH_S = 0.0002
"""How long one of these threads keeps the GIL while another thread waits for it; Python's own value
is 25 times that, longer than many calls."""


def run(work: Callable[[], None]) -> bool:
    """Starts work in a separate thread; returns whether the thread could be started.

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
        # There are too many threads, or the interpreter is shutting down.
        with _lock:
            _threads.discard(thread)
        return False
    return True


@contextlib.contextmanager
def giving_way() -> Iterator[None]:
    """Threads release the GIL sooner within the block."""
    with at_most(_SWITCH_S):
        yield


def wait(timeout_s: float | None = None) -> bool:
    """Waits until all work is done; returns whether that was in time."""
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
    """In a child process: the parent's threads do not exist here."""
    global _lock
    _lock = threading.Lock()
    _threads.clear()
