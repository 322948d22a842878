"""Runs work in forks of this process, several at a time: an abort in a fork does not affect it."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import warnings
from collections import deque
from collections.abc import Callable
from multiprocessing import connection
from multiprocessing.context import ForkProcess
from typing import TypeVar

_PR_SET_PDEATHSIG = 1

Job = TypeVar("Job")


def run(
    jobs: deque[Job], work: Callable[[Job], None], done: Callable[[Job, str], None], at_most: int
) -> None:
    """Does each job in a fork, and returns when none is left.

    Parameters
    ----------
    jobs
        Taken from the front; ``done`` may add some.
    work
        Called in the fork; what it gives it has to write into a file.
    done
        Called here when a job has ended, with how it failed; that is empty for one that did not.
    at_most
        How many forks there are at a time.
    """
    running: dict[int, tuple[ForkProcess, Job]] = {}
    try:
        while jobs or running:
            while jobs and len(running) < at_most:
                job = jobs.popleft()
                fork = start(work, job)
                running[fork.sentinel] = (fork, job)
            for sentinel in connection.wait(list(running)):
                assert isinstance(sentinel, int), "it is a process's"
                fork, job = running.pop(sentinel)
                fork.join()
                done(job, end_of(fork.exitcode))
    finally:
        for fork, _ in running.values():
            fork.kill()
            fork.join()


def start(work: Callable[[Job], None], job: Job) -> ForkProcess:
    """Starts a fork that does a job, and that ends with this process."""
    fork = multiprocessing.get_context("fork").Process(
        target=_run_fork, args=(work, job, os.getpid())
    )
    with warnings.catch_warnings():
        # The other threads of this process only wait for messages; a fork does not need them.
        warnings.simplefilter("ignore", DeprecationWarning)
        fork.start()
    return fork


def _run_fork(work: Callable[[Job], None], job: Job, parent: int) -> None:
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:
        work(job)


def end_of(code: int | None) -> str:
    """How a fork failed, from its exit code."""
    if not code:
        return ""
    if code > 0:
        return f"ended with code {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"
