"""Executors that run work in separate processes, here or on other machines; what fails on them.

The work is a plain function and plain data, and its worker only starts and watches a process.
"""

from __future__ import annotations

import concurrent.futures as futures
from typing import Literal, NamedTuple

from ..report.argument_checks import check_count
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from .thread_executor import Threads

TRIES = 3
"""How often work is given to an executor whose worker dies."""
ENDING_S = 15.0
"""How long canceled work is waited for while its processes end."""

NOT_STARTED = "Its process could not be started"
LOST = "The executor lost it"
BROKEN = "The executor is broken"
SHUT_DOWN = "The executor was shut down."
NOT_TAKEN = "The executor did not take it"
"""What the problems of work begin with that are not its own."""

ExecutorChoice = futures.Executor | Literal["gpus"] | None
"""Where work runs: this machine if None."""


class Chosen(NamedTuple):
    """An executor, and what is known of it."""

    executor: futures.Executor
    own: Threads | None
    """The same, if it is to be shut down after the work."""
    at_once: int
    """How many tasks run at a time; of an executor of others' it is not known."""
    title: str


def check(executor: object) -> None:
    """Checks an executor that was given.

    Raises
    ------
    CompilescopeError
        It is none; or it is ``"gpus"``, and torch sees no GPU.
    """
    if isinstance(executor, str):
        from .gpu_executor import visible_gpus

        if executor != "gpus":
            raise _no_executor(executor)
        visible_gpus()
    elif executor is not None and (
        not callable(getattr(executor, "submit", None)) or isinstance(executor, type)
    ):
        raise _no_executor(executor)


def choose(executor: ExecutorChoice, workers: int = 1) -> Chosen:
    """The executor that was chosen: ``"gpus"`` is a thread here for each GPU.

    Parameters
    ----------
    workers
        How many threads there are without an executor.

    Raises
    ------
    CompilescopeError
        It is none, torch sees no GPU, or the number of workers is out of range.
    """
    check(executor)
    if executor is None:
        check_count("workers", workers, "how many cells compile at once: 2")
        threads = Threads(workers)
        return Chosen(threads, threads, workers, f"processes, {workers} at a time")
    if isinstance(executor, str):
        from .gpu_executor import Gpus, visible_gpus

        gpus = visible_gpus()
        threads = Gpus(gpus)
        title = f"processes, one on each of {len(gpus)} GPUs"
        return Chosen(threads, threads, len(gpus), title)
    return Chosen(executor, None, workers, type(executor).__name__)


def not_started(error: OSError, again: str) -> Problem:
    """Why work has no result: its process could not be started.

    Parameters
    ----------
    again
        What to do once it is put right: ``sweep again``.
    """
    return Problem(
        severity="error",
        what=f"{NOT_STARTED}: {error}.",
        remedy=f"Make room where temporary files go (TMPDIR), and {again}.",
    )


def not_taken(error: Exception, during: str, again: str) -> Problem:
    """Why work has no result: the executor refused it with an exception.

    Parameters
    ----------
    during
        What needs the executor: ``the sweep``.
    again
        What to do with a new executor: ``sweep again: finished cells are kept``.
    """
    if isinstance(error, futures.BrokenExecutor):
        return lost(error, again)
    raised = f"{type(error).__name__}: {error}".rstrip(": .")[:500]
    if isinstance(error, RuntimeError) and "after shutdown" in raised:
        what, why = SHUT_DOWN, f"{raised}."
        remedy = f"Give an executor that is not shut down before {during} has ended."
    else:
        what, why = f"{NOT_TAKEN}: {raised.splitlines()[0]}.", "Its submit raised this."
        remedy = "Make executor.submit(len, ()).result() work first."
    return Problem(severity="error", what=what, why=why, remedy=remedy)


def lost(error: BaseException, again: str) -> Problem:
    """Why work has no result: its worker died, or cannot run it.

    Parameters
    ----------
    again
        What to do with a new executor: ``sweep again: finished cells are kept``.
    """
    what, remedy = LOST, "Its worker died, or cannot run it: it needs compilescope, the same torch."
    if isinstance(error, futures.BrokenExecutor):
        what, remedy = BROKEN, f"Make a new executor and {again}."
    return Problem(
        severity="error",
        what=f"{what}: {type(error).__name__}.",
        why=f"{str(error)[:500].rstrip('.')}." if str(error) else "",
        remedy=remedy,
    )


def _no_executor(value: object) -> CompilescopeError:
    return CompilescopeError(
        f"executor is {value!r}.",
        remedy='Give an executor of concurrent.futures, "gpus", or None for this machine.',
    )
