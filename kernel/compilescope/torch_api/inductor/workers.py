"""Ends Inductor's compile workers that were not running before.

Stands on ``torch._inductor.async_compile`` (AsyncCompile.pool, .process_pool, .wakeup,
_pool_set, shutdown_compile_workers).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import psutil
from torch._inductor import async_compile
from torch._inductor.async_compile import AsyncCompile, shutdown_compile_workers

_lock = threading.Lock()
_borrowers = 0
_had_threads = False
_had_processes = False


@contextlib.contextmanager
def temporary() -> Iterator[None]:
    """Ends the threads and child processes that compiling in the block has started.

    Pools that the user's own compilations started stay; pools that several blocks use at once end
    with the last of them. When the block is interrupted, children are ended at once, since a C++
    compiler may run for another minute. Otherwise they have already ended.
    """
    global _borrowers, _had_threads, _had_processes
    children = {child.pid for child in psutil.Process().children(recursive=True)}
    with _lock:
        if not _borrowers:
            _had_threads = bool(AsyncCompile.pool.cache_info().currsize)
            _had_processes = bool(async_compile._pool_set)
        _borrowers += 1
    try:
        yield
    except BaseException:
        _end(children)
        raise
    finally:
        with _lock:
            _borrowers -= 1
            if not _borrowers:
                _shut_down()


def wake() -> None:
    """Starts the processes in which torch compiles Triton kernels, as its backend does early on."""
    AsyncCompile.wakeup()


def _shut_down() -> None:
    if not _had_threads and AsyncCompile.pool.cache_info().currsize:
        pool = AsyncCompile.pool()
        AsyncCompile.pool.cache_clear()
        pool.shutdown(wait=True, cancel_futures=True)
    if not _had_processes and async_compile._pool_set:
        shutdown_compile_workers()


def _end(earlier: set[int]) -> None:
    for child in psutil.Process().children(recursive=True):
        if child.pid not in earlier:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
