"""Inductor's compile workers, gone again if they were not there before.

Stands on ``torch._inductor.async_compile`` (AsyncCompile.pool, .process_pool, _pool_set,
shutdown_compile_workers).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psutil
from torch._inductor import async_compile
from torch._inductor.async_compile import AsyncCompile, shutdown_compile_workers


@contextlib.contextmanager
def borrowed() -> Iterator[None]:
    """Ends the threads and child processes that compiling in the block has started.

    Pools that the user's own compilations started stay. When the block is interrupted, children are
    ended at once (a C++ compiler may run for a minute yet); otherwise they have ended by
    themselves.
    """
    threads_before = AsyncCompile.pool.cache_info().currsize
    processes_before = bool(async_compile._pool_set)
    children_before = {child.pid for child in psutil.Process().children(recursive=True)}
    interrupted = True
    pool: ThreadPoolExecutor | None = None
    try:
        yield
        interrupted = False
    finally:
        if not threads_before and AsyncCompile.pool.cache_info().currsize:
            pool = AsyncCompile.pool()
            AsyncCompile.pool.cache_clear()
            pool.shutdown(wait=False, cancel_futures=True)
        if not processes_before and async_compile._pool_set:
            shutdown_compile_workers()
        if interrupted:
            _end(children_before)
        if pool is not None:
            pool.shutdown(wait=True)


def _end(kept: set[int]) -> None:
    for child in psutil.Process().children(recursive=True):
        if child.pid not in kept:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
