"""An executor of daemon threads, which only wait for processes and do not delay Python's exit."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class Threads(Executor):
    """Daemon threads that do what is submitted, in its order.

    Python waits for those of its own ``ThreadPoolExecutor`` when it exits: a kernel that is shut
    down in the middle of a sweep would wait for the cell.

    Parameters
    ----------
    workers
        How many there are.
    """

    def __init__(self, workers: int) -> None:
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]
        self._waiting = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, name=f"compilescope-cell-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(
        self, fn: Callable[_Given, _Result], /, *args: _Given.args, **kwargs: _Given.kwargs
    ) -> Future[_Result]:
        """Calls it when a thread is free."""
        future: Future[_Result] = Future()
        self._waiting.put((future, lambda: fn(*args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the threads once all that was submitted is done."""
        for _ in self._threads:
            self._waiting.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def _work(self) -> None:
        while (item := self._waiting.get()) is not None:
            future, call = item
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(call())
            except BaseException as error:  # noqa: BLE001 - the future's to tell
                future.set_exception(error)
