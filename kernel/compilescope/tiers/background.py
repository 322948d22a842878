"""A thread for work that a user's call does not wait for."""

from __future__ import annotations

import atexit
import contextlib
import logging
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..isolation.switch_interval import at_most

_IDLE_S = 30.0
_WORK_S = 0.0001
_PAUSE_S = 0.005
"""Longer than many calls, so that each meets this thread once at most."""
_SHORT_PAUSE_S = 0.00005
_SWITCH_S = 0.0002
"""Python's switch interval meanwhile. A thread that has waited so long gets the GIL next: otherwise
this one could take it again before the other is awake."""

_log = logging.getLogger(__name__)
Work = Callable[[], None]


class Worker:
    """Does work in the order in which it came, in a thread that ends when there is none."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._left = 0
        self._thread: threading.Thread | None = None
        self._is_stopped = False

    def start(self) -> bool:
        """Starts the thread if it does not run; returns whether it runs."""
        with self._changed:
            return self._start()

    def run(self, work: Work) -> bool:
        """Gives the thread some work; returns whether it will be done."""
        with self._changed:
            if not self._start():
                return False
            self._left += 1
            self._waiting.put(work)
        return True

    def wait(self, timeout_s: float | None = None) -> bool:
        """Waits until all work is done; returns whether that was in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._left, timeout_s)

    def stop(self) -> None:
        """Takes no more work, and waits until the thread has ended."""
        with self._changed:
            self._is_stopped = True
            thread = self._thread
            self._waiting.put(None)
        if thread is not None:
            thread.join()

    def _start(self) -> bool:
        if self._thread is not None or self._is_stopped:
            return not self._is_stopped
        thread = threading.Thread(
            target=self._run, name="compilescope-tiers-background", daemon=True
        )
        try:
            thread.start()
        except RuntimeError as error:
            # There are too many threads, or the interpreter is shutting down.
            _log.info("no thread could be started: %s", error)
            return False
        self._thread = thread
        return True

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except Exception:  # noqa: BLE001 - more work may follow
                _log.exception("Work beside the calls of a graph failed.")
            del work  # it may hold tensors
            with self._changed:
                self._left -= 1
                self._changed.notify_all()

    def _next(self) -> Work | None:
        """The next work; None at the end."""
        with contextlib.suppress(queue.Empty):
            return self._waiting.get(timeout=_IDLE_S)
        with self._changed:
            if not self._left:
                self._thread = None
                return None
        return self._waiting.get()


_worker = Worker()


def start() -> bool:
    """Starts the thread, which takes longer than many calls; returns whether it runs."""
    return _worker.start()


def run(work: Work) -> bool:
    """Gives the thread some work; returns whether it will be done.

    The interpreter waits for it before it ends: torch's code must not run beyond that.
    """
    return _worker.run(work)


def wait(timeout_s: float | None = None) -> bool:
    """Waits until all work is done; returns whether that was in time."""
    return _worker.wait(timeout_s)


def after_fork() -> None:
    """In a child process: the parent's thread does not exist here."""
    global _worker
    _worker = Worker()


def _stop() -> None:
    _worker.stop()


atexit.register(_stop)


@contextlib.contextmanager
def paced() -> Iterator[None]:
    """Within the block this thread sleeps most of the time, while other threads run Python code.

    A call releases the GIL at each launch. A thread that is always busy gets it each time, and
    keeps it for a switch interval: the call takes several times as long.

    A profile function of this thread takes the pauses: it is called at each call and return of a
    Python function. With a profiler in this thread there are none.
    """
    if sys.getprofile() is not None:
        yield
        return
    resumed_s, positions = time.perf_counter(), _positions()

    def pause(frame: object, event: str, arg: Any) -> None:
        nonlocal resumed_s, positions
        if time.perf_counter() > resumed_s + _WORK_S:
            before, positions = positions, _positions()
            time.sleep(_SHORT_PAUSE_S if positions == before else _PAUSE_S)
            resumed_s = time.perf_counter()

    with at_most(_SWITCH_S):
        sys.setprofile(pause)
        try:
            yield
        finally:
            sys.setprofile(None)


def _positions() -> dict[int, tuple[int, int]]:
    """Where the other threads are in their Python code."""
    frames = sys._current_frames()
    del frames[threading.get_ident()]
    return {thread: (id(frame), frame.f_lasti) for thread, frame in frames.items()}
