"""A background thread for work that no user's call waits for."""

from __future__ import annotations

import atexit
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Iterator

from ..isolation.switch_interval import switch_interval_at_most
from ..torch_api.inductor.background.short_steps import in_short_steps

_IDLE_S = 30.0
_SWITCH_S = 0.0002
"""How long this thread keeps the GIL while another thread waits for it; Python's own value is 25
times that, longer than many calls."""

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
        """Queues work for the thread; returns whether it will be done."""
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
        """Finishes the current work, drops the rest, and waits until the thread has ended."""
        with self._changed:
            self._is_stopped = True
            thread = self._thread
            self._waiting.put(None)
        if thread is not None:
            thread.join()

    def _start(self) -> bool:
        if self._thread is not None or self._is_stopped:
            return not self._is_stopped
        # Set before the start, which waits and may be interrupted.
        self._thread = threading.Thread(
            target=self._run, name="compilescope-tiers-background", daemon=True
        )
        try:
            self._thread.start()
        except RuntimeError as error:
            # There are too many threads, or the interpreter is shutting down.
            _log.info("no thread could be started: %s", error)
            self._thread = None
            return False
        return True

    def _run(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except BaseException:  # noqa: BLE001 - more work may follow, and someone may wait
                _log.exception("Background work for a graph failed.")
            del work  # it may hold tensors
            with self._changed:
                self._left -= 1
                self._changed.notify_all()

    def _next(self) -> Work | None:
        """The next work; None at the end."""
        work: Work | None = None
        with contextlib.suppress(queue.Empty):
            work = self._waiting.get(timeout=_IDLE_S)
        with self._changed:
            if self._is_stopped:
                return None
            if work is None and not self._left:
                self._thread = None
                return None
        return work or self._waiting.get()


_worker = Worker()


def start() -> bool:
    """Starts the thread, which takes longer than many calls; returns whether it runs."""
    return _worker.start()


def run(work: Work) -> bool:
    """Queues work for the thread; returns whether it will be done.

    The interpreter waits for what it does before it ends: torch's code must not run beyond that.
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
def giving_way() -> Iterator[None]:
    """Calls in other threads hardly wait for this thread in the block."""
    with switch_interval_at_most(_SWITCH_S), in_short_steps():
        yield
