"""Threads for work that a user's call does not wait for."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

_lock = threading.Lock()
_threads: set[threading.Thread] = set()
_WORK_S = 0.0001
_PAUSE_S = 0.001


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
def paced() -> Iterator[None]:
    """Within the block this thread sleeps nine tenths of the time, for the calls of other threads.

    A call releases the GIL at each launch. A thread that is always busy gets it each time and keeps
    it for a switch interval, so the call takes several times as long.

    A profile function of this thread takes the pauses: it is called at each call and return of a
    Python function. With a profiler in this thread there are none.
    """
    if sys.getprofile() is not None:
        yield
        return
    resumed_s = time.perf_counter()

    def pause(frame: object, event: str, arg: Any) -> None:
        nonlocal resumed_s
        if time.perf_counter() > resumed_s + _WORK_S:
            time.sleep(_PAUSE_S)
            resumed_s = time.perf_counter()

    sys.setprofile(pause)
    try:
        yield
    finally:
        sys.setprofile(None)


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
