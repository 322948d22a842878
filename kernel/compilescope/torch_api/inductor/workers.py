"""Starts Inductor's compile workers early, and ends those that were not running before.

Processes that compile Triton kernels take about ten seconds to start. They can start before the
first inspection, and stay for `IDLE_S`, for the next one. If the user's own compilations use them
meanwhile, they stay as torch's own do.

Relies on ``torch._inductor.async_compile`` (AsyncCompile.pool, .process_pool, .wakeup,
.use_process_pool, ._ready_future, _pool_set, after_fork) and on a ``SubprocPool``'s ``process``,
``job_id_count`` and ``pending_futures``.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import psutil
from torch._inductor import async_compile
from torch._inductor.async_compile import AsyncCompile, after_fork

_STAGES = {"cc1plus", "lto1", "as", "collect2", "ld"}
"""Programs that ``g++`` runs. They outlive it: Python kills only the process that it waits for."""

_COMPILERS = re.compile(
    r"(?:[\w.-]+-)?"  # x86_64-linux-gnu-g++
    r"(?:[gc]\+\+|g?cc|clang(?:\+\+)?|ic[cp]?x|dpcpp|nvcc|hipcc|ptxas|ccache|cl|ld|as|objcopy)"
    r"(?:-[\d.]+)?(?:\.exe)?"
)
"""Names of the programs that torch runs to compile and link."""

_THREAD = "compilescope-workers"

IDLE_S = 300.0
"""How long processes that nothing uses stay."""


class _Idle(NamedTuple):
    """Processes that stay for the next block."""

    pools: list[Any]
    jobs: list[str]
    """How many jobs each has had."""
    timer: threading.Timer

    def are_ours(self) -> bool:
        """Whether nothing else has used them."""
        return list(async_compile._pool_set) == self.pools and self.jobs == _jobs(self.pools)


_lock = threading.Lock()
_borrowers = 0
_had_threads = False
_had_processes = False
_idle: _Idle | None = None


@contextlib.contextmanager
def shared() -> Iterator[None]:
    """Pools of threads and processes that compiling in the block starts serve all of it.

    With it, or with the last of several blocks at once, threads end, and processes become idle.
    Pools that the user's own compilations started stay.
    """
    _borrow()
    try:
        yield
    finally:
        _release()


@contextlib.contextmanager
def temporary() -> Iterator[None]:
    """As `shared`; if the block is interrupted, everything that it started ends at once.

    A C++ compiler may run for another minute, and Triton kernels may be queued. Other processes
    that this one started meanwhile, such as a data loader's workers, are not the block's.
    """
    earlier = set(psutil.pids())
    _borrow()
    try:
        yield
    except BaseException:
        _end_compilers(earlier)
        _end_orphans(earlier)
        _release(at_once=True)
        raise
    _release()


@contextlib.contextmanager
def awake() -> Iterator[None]:
    """As `shared`, with the processes starting at once."""
    with shared():
        wake()
        yield


def start_early() -> None:
    """Starts the processes before anything is compiled; unused, they end after `IDLE_S`.

    torch's own ``TORCH_WARM_POOL=0`` turns this off.
    """
    if os.environ.get("TORCH_WARM_POOL", "1") == "1":
        with awake():
            pass


def wait_until_ready() -> None:
    """Starts the processes, and waits until they can compile, up to ten minutes."""
    AsyncCompile.use_process_pool()  # type: ignore[no-untyped-call]
    if AsyncCompile._ready_future is not None:
        AsyncCompile._ready_future.result(600)


def wake() -> None:
    """Starts the processes in which torch compiles Triton kernels, as its backend does early on."""
    AsyncCompile.wakeup()


def are_running() -> bool:
    """Whether torch has such processes."""
    return bool(async_compile._pool_set)


def _borrow() -> None:
    global _borrowers, _had_threads, _had_processes
    with _lock:
        if not _borrowers:
            _had_threads = bool(AsyncCompile.pool.cache_info().currsize)
            _had_processes = are_running() and not _reclaim()
        _borrowers += 1


def _reclaim() -> bool:
    """Whether the processes that run are those that an earlier block left idle."""
    global _idle
    idle, _idle = _idle, None
    if idle is None:
        return False
    idle.timer.cancel()
    return idle.are_ours()


def _release(*, at_once: bool = False) -> None:
    global _borrowers
    with _lock:
        _borrowers -= 1
        if not _borrowers:
            _shut_down(at_once)


def _shut_down(at_once: bool) -> None:
    if not _had_threads and AsyncCompile.pool.cache_info().currsize:
        pool = AsyncCompile.pool()
        AsyncCompile.pool.cache_clear()
        pool.shutdown(wait=True, cancel_futures=True)
    if not _had_processes and are_running():
        pools = list(async_compile._pool_set)
        if at_once or not all(hasattr(pool, "job_id_count") for pool in pools):
            _forget()
            threading.Thread(target=_end_pools, args=(pools, at_once), name=_THREAD).start()
        else:
            _leave_idle(pools)


def _leave_idle(pools: list[Any]) -> None:
    global _idle
    timer = threading.Timer(IDLE_S, _end_idle)
    timer.name, timer.daemon = _THREAD, True
    _idle = _Idle(pools, _jobs(pools), timer)
    timer.start()


def _end_idle() -> None:
    global _idle
    with _lock:
        idle = _idle
        if idle is None or idle.timer is not threading.current_thread():
            return
        _idle = None
        if not idle.are_ours():
            return
        _forget()
    _end_pools(idle.pools, at_once=False)


def _forget() -> None:
    """Makes torch forget its processes: the next compilation starts new ones."""
    after_fork()  # type: ignore[no-untyped-call]


def _jobs(pools: Sequence[Any]) -> list[str]:
    return [repr(pool.job_id_count) for pool in pools]


def _end_pools(pools: Sequence[Any], at_once: bool) -> None:
    """Ends processes, which takes a second."""
    for pool in pools:
        while not at_once and getattr(pool, "pending_futures", None):
            time.sleep(0.1)  # a job of the user's that came in the last moment
        process = getattr(pool, "process", None)
        if at_once and process is not None:
            with contextlib.suppress(psutil.NoSuchProcess):
                _kill_with_children(psutil.Process(process.pid))
        pool.shutdown()


def _end_compilers(earlier: set[int]) -> None:
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if child.pid not in earlier and _COMPILERS.fullmatch(child.name()):
                _kill_with_children(child)


def _kill_with_children(process: psutil.Process) -> None:
    for each in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()


def _end_orphans(earlier: set[int]) -> None:
    """Ends what compilers that were killed have left running in this process's group."""
    if not hasattr(os, "getpgid"):
        return
    own_group = os.getpgrp()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if (
                process.pid not in earlier
                and os.getpgid(process.pid) == own_group
                and process.name() in _STAGES
                and _group(process.ppid()) != own_group
            ):
                process.kill()


def _group(process: int) -> int | None:
    """A process's group; `None` if the process has ended."""
    try:
        return os.getpgid(process)
    except ProcessLookupError:
        return None
