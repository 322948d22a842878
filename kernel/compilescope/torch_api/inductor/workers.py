"""Ends Inductor's compile workers that were not running before.

Relies on ``torch._inductor.async_compile`` (AsyncCompile.pool, .process_pool, .wakeup,
_pool_set, after_fork).
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import psutil
from torch._inductor import async_compile
from torch._inductor.async_compile import AsyncCompile, after_fork

_STAGES = {"cc1plus", "lto1", "as", "collect2", "ld"}
"""Programs that ``g++`` runs. They outlive it: Python kills only the process that it waits for."""

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
    global _borrowers, _had_threads, _had_processes
    with _lock:
        if not _borrowers:
            _had_threads = bool(AsyncCompile.pool.cache_info().currsize)
            _had_processes = are_running()
        _borrowers += 1
    try:
        yield
    finally:
        with _lock:
            _borrowers -= 1
            if not _borrowers:
                _shut_down()


@contextlib.contextmanager
def temporary() -> Iterator[None]:
    """As `shared`; when the block is interrupted, the children that it started are ended at once.

    A C++ compiler may run for another minute.
    """
    earlier = set(psutil.pids())
    with shared():
        try:
            yield
        except BaseException:
            _end(earlier)
            _end_orphans(earlier)
            raise


def wake() -> None:
    """Starts the processes in which torch compiles Triton kernels, as its backend does early on."""
    AsyncCompile.wakeup()


def are_running() -> bool:
    """Whether torch has such processes."""
    return bool(async_compile._pool_set)


def _shut_down() -> None:
    if not _had_threads and AsyncCompile.pool.cache_info().currsize:
        pool = AsyncCompile.pool()
        AsyncCompile.pool.cache_clear()
        pool.shutdown(wait=True, cancel_futures=True)
    if not _had_processes and are_running():
        pools = list(async_compile._pool_set)
        # torch forgets them: what compiles next starts others.
        after_fork()  # type: ignore[no-untyped-call]
        # They take a second to end.
        threading.Thread(target=_end_pools, args=(pools,), name="compilescope-workers").start()


def _end_pools(pools: Sequence[Any]) -> None:
    for pool in pools:
        pool.shutdown()


def _end(earlier: set[int]) -> None:
    for child in psutil.Process().children(recursive=True):
        if child.pid not in earlier:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()


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
