"""The pool of targets' processes: at most four of them, kept warm."""

from __future__ import annotations

import atexit
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ..processes.runner import search_path
from ..progress.progress import Monitor
from ..report.devices import Device
from ..report.errors import CompilescopeError
from ..torch_api.process import caches
from . import known_devices
from .wire import Question, Role
from .worker_process import ProcessEnded, Restart, WorkerProcess

AT_MOST = 4
"""Processes; each holds torch, some hundred megabytes."""

_MAX_BYTES = 3e9
"""A process that holds more once it has answered makes way for a new one."""

_POLL_S = 0.1


class WorkerPool:
    """Asks targets' processes; starts them when they are first needed. Any thread may ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: OrderedDict[tuple[str, Role], WorkerProcess] = OrderedDict()

    def ask(
        self,
        target: str,
        kind: str,
        payload: bytes,
        monitor: Monitor,
        *,
        role: Role = "compiler",
    ) -> bytes:
        """What the module ``answer_<kind>`` gives for a payload in a target's process.

        A process serves one at a time; others wait for their turn.

        Parameters
        ----------
        target
            Its name; of a compiler.
        monitor
            Told the steps that the process takes. Once canceled, the process is ended.
        role
            What the process does: see `wire.Role`.

        Raises
        ------
        CompilescopeError
            What the answer failed with, or how the process ended before it had one.
        Cancelled
            The monitor was canceled.
        """
        if role != "local" and (reason := known_devices.unavailable()):
            raise CompilescopeError("Nothing can be generated for a target here.", reason)
        device = known_devices.find(target) if role == "compiler" else None
        question = Question(
            kind=kind,
            payload=payload,
            folder=str(Path.cwd()),
            # "" is the working folder of the moment: the process may have been started in another.
            folders=[*filter(None, search_path()), str(Path.cwd())],
        )
        monitor.check()
        while True:
            worker = self._worker(target, role, device)
            with _turn(worker, monitor):
                # One that ended while nobody asked it anything is nobody's matter.
                if worker.is_over:
                    continue
                if not worker.has_answered:
                    monitor.step(f"starting a process to {worker.task}")
                try:
                    return worker.ask(question, monitor.step, lambda: monitor.cancelled)
                except Restart:
                    continue
                except ProcessEnded:
                    raise _gone(worker) from None
                finally:
                    if worker.memory_bytes() > _MAX_BYTES:
                        worker.end()

    def warm(self, target: str) -> None:
        """Starts a target's process, if it is not there, and waits for nothing.

        Raises
        ------
        CompilescopeError
            There is no such target.
        """
        if not known_devices.unavailable():
            self._worker(target, "compiler", known_devices.find(target))

    def pids(self) -> dict[str, int]:
        """Target, or role of another process → the process that serves it, those alive."""
        with self._lock:
            return {
                key[0]: worker_process.pid
                for key, worker_process in self._workers.items()
                if worker_process.is_alive
            }

    def close(self) -> None:
        """Ends all processes. The next question starts one again."""
        with self._lock:
            workers, self._workers = self._workers, OrderedDict()
        for worker in workers.values():
            worker.end()

    def _worker(self, target: str, role: Role, device: Device | None) -> WorkerProcess:
        """The process that serves, a new one if there is none."""
        key = (known_devices.normalized(target) if role == "compiler" else role, role)
        superfluous = []
        with self._lock:
            worker = self._workers.get(key)
            # Another device may go by the name of a target of the user's own now.
            if worker is not None and (worker.is_over or worker.device != device):
                superfluous.append(self._workers.pop(key))
                worker = None
            if worker is None:
                folder = caches.own_folder() / "targets"
                folder.mkdir(parents=True, exist_ok=True)
                worker = self._workers[key] = WorkerProcess(role, device, folder)
            self._workers.move_to_end(key)
            idle = self._hold_idle(key, len(self._workers) - AT_MOST)
        with ExitStack() as held:
            for other in idle:
                held.callback(other.lock.release)
            for other in (*superfluous, *idle):
                other.end()
        return worker

    def _hold_idle(self, key: tuple[str, Role], most: int) -> list[WorkerProcess]:
        """Removes idle processes other than this one, the least recently used first.

        Their locks are held: who waits for one finds it ended, and takes another.
        """
        idle: list[WorkerProcess] = []
        for other_key, other in list(self._workers.items()):
            if len(idle) >= most:
                break
            if other_key != key and other.lock.acquire(blocking=False):
                idle.append(self._workers.pop(other_key))
        return idle


_pool: WorkerPool | None = None
_owner = 0
_pool_lock = threading.Lock()


def shared_pool() -> WorkerPool:
    """The pool of this process, made when it is first needed."""
    global _pool, _owner
    with _pool_lock:
        # A process that was forked off has no business with its parent's.
        if _pool is None or _owner != os.getpid():
            _pool, _owner = WorkerPool(), os.getpid()
        return _pool


def _close() -> None:
    if _pool is not None and _owner == os.getpid():
        _pool.close()


atexit.register(_close)


@contextmanager
def _turn(worker: WorkerProcess, monitor: Monitor) -> Iterator[None]:
    """In the block only this caller uses the process."""
    while not worker.lock.acquire(timeout=_POLL_S):
        monitor.check()
    try:
        yield
    finally:
        worker.lock.release()


def _gone(worker: WorkerProcess) -> CompilescopeError:
    how, errors = worker.last_words()
    last = next((line.strip() for line in reversed(errors.splitlines()) if line.strip()), "")
    error = CompilescopeError(
        f"The process started to {worker.task} ended early: {how}.",
        f"Its last output: {last}" if last else "It wrote no output.",
        "Try again: a new process is started. Your kernel is not affected.",
    )
    error.problem.detail = errors
    return error
