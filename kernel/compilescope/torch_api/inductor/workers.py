"""Ends Inductor's compile workers that were not running before.

Relies on ``torch._inductor.async_compile`` (AsyncCompile.pool, .process_pool, .wakeup,
_pool_set, after_fork) and on the ``process`` of a ``SubprocPool``.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

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

_lock = threading.Lock()
_borrowers = 0
_had_threads = False
_had_processes = False


@contextlib.contextmanager
def shared() -> Iterator[None]:
    """Pools of threads and processes that compiling in the block starts serve all of it.

    They end with it, or with the last of several blocks at once; in a thread, as processes take a
    second to end. Pools that the user's own compilations started stay.
    """
    _borrow()
    try:
        yield
    finally:
        _give_back()


@contextlib.contextmanager
def temporary() -> Iterator[None]:
    """As `shared`; when the block is interrupted, the compilers that it started end at once.

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
        _give_back(at_once=True)
        raise
    _give_back()


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
            _had_processes = are_running()
        _borrowers += 1


def _give_back(*, at_once: bool = False) -> None:
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
        # torch forgets them: what compiles next starts others.
        after_fork()  # type: ignore[no-untyped-call]
        # They take a second to end.
        threading.Thread(
            target=_end_pools, args=(pools, at_once), name="compilescope-workers"
        ).start()


def _end_pools(pools: Sequence[Any], at_once: bool) -> None:
    for pool in pools:
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
