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
from .worker_messages import Request, Role
from .worker_process import ProcessEnded, Restart, WorkerProcess

AT_MOST = 4
"""Processes; each holds torch, some hundred megabytes."""

_MAX_BYTES = 3e9
"""A process that holds more after an answer is ended; the next request starts a new one."""

_POLL_S = 0.1


class WorkerPool:
    """Sends requests to targets' processes, which it starts on demand. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: OrderedDict[tuple[str, Role], WorkerProcess] = OrderedDict()

    def request(
        self,
        target: str,
        kind: str,
        payload: bytes,
        monitor: Monitor,
        *,
        role: Role = "compiler",
    ) -> bytes:
        """Returns what the module ``answer_<kind>`` answers to a payload in a target's process.

        A process answers one request at a time; others wait.

        Parameters
        ----------
        target
            The target's name, for the role "compiler".
        monitor
            Shows the steps of the process. A cancel ends the process.
        role
            What the process does: see `worker_messages.Role`.

        Raises
        ------
        CompilescopeError
            The error in the process, or how the process ended before it answered.
        Cancelled
            The monitor was canceled.
        """
        if role not in ("local", "local_run") and (reason := known_devices.unavailable()):
            raise CompilescopeError("Nothing can be generated for a target here.", reason)
        device = _emulated(target, role)
        request = Request(
            kind=kind,
            payload=payload,
            folder=str(Path.cwd()),
            # "" stands for the current working folder, which may not be that of the process.
            folders=[*filter(None, search_path()), str(Path.cwd())],
        )
        monitor.check()
        while True:
            worker = self._worker(target, role, device)
            with _turn(worker, monitor):
                # It ended while idle, which is no error: start another one.
                if worker.is_over:
                    continue
                if not worker.has_answered:
                    monitor.step(f"starting a process to {worker.task}")
                try:
                    return worker.request(request, monitor.step, lambda: monitor.cancelled)
                except Restart:
                    continue
                except ProcessEnded:
                    raise _gone(worker) from None
                finally:
                    if worker.memory_bytes() > _MAX_BYTES:
                        worker.end()

    def warm(self, target: str) -> None:
        """Starts a target's process, if there is none, without waiting for it.

        Raises
        ------
        CompilescopeError
            There is no such target.
        """
        if not known_devices.unavailable():
            self._worker(target, "compiler", known_devices.find(target))

    def pids(self) -> dict[str, int]:
        """Target, or role of another process → the id of its process, if that is alive."""
        with self._lock:
            return {
                key[0]: worker_process.pid
                for key, worker_process in self._workers.items()
                if worker_process.is_alive
            }

    def close(self) -> None:
        """Ends all processes. The next request starts a new one."""
        with self._lock:
            workers, self._workers = self._workers, OrderedDict()
        for worker in workers.values():
            worker.end()

    def _worker(self, target: str, role: Role, device: Device | None) -> WorkerProcess:
        """The process for a target or role, a new one if there is none."""
        key = (known_devices.normalized(target) if role == "compiler" else role, role)
        superfluous = []
        with self._lock:
            worker = self._workers.get(key)
            # The user may have redefined the target of this name.
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

        Their locks are held: a caller that waits for one finds it ended and takes another.
        """
        idle: list[WorkerProcess] = []
        for other_key, other in list(self._workers.items()):
            if len(idle) >= most:
                break
            if other_key != key and other.lock.acquire(blocking=False):
                idle.append(self._workers.pop(other_key))
        return idle


def _emulated(target: str, role: Role) -> Device | None:
    """The GPU that a process emulates."""
    if role == "compiler":
        return known_devices.find(target)
    return known_devices.this_device() if role == "local_gpu" else None


_pool: WorkerPool | None = None
_owner = 0
_pool_lock = threading.Lock()


def shared_pool() -> WorkerPool:
    """The pool of this process, created on first use."""
    global _pool, _owner
    with _pool_lock:
        # A fork does not use its parent's pool.
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
