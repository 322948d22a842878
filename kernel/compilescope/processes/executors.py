"""Executors that run work in separate processes, here or on other machines; what fails on them.

The work is a plain function and plain data, and its worker only starts and watches a process.
"""

from __future__ import annotations

import concurrent.futures as futures
import pkgutil
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, TypeVar

from ..report.argument_checks import check_count, check_mapping, check_text, kind_of
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..version import __version__
from .thread_executor import Threads

TRIES = 3
"""How often work is given to an executor whose worker dies."""
POLL_S = 0.2
"""How often the state of running work is checked (s)."""
ENDING_S = 15.0
"""How long canceled work is waited for while its processes end."""

NOT_STARTED = "Its process could not be started"
LOST = "The executor lost it"
BROKEN = "The executor is broken"
SHUT_DOWN = "The executor was shut down."
NOT_TAKEN = "The executor did not take it"
UNFIT = "The executor's worker"
OTHER_FUTURE = "The executor's submit returned"
"""What the problems of work begin with that are not its own."""
OF_ALL_WORK = (BROKEN, UNFIT, OTHER_FUTURE)
"""What the problems begin with that are the same for all work that an executor has not done."""

A_WORKER = "a worker of the executor"
"""What work waits for until one has answered, in words."""

GPUS = "gpus"
"""The choice of a thread for each GPU of this machine."""
Result = TypeVar("Result")
ExecutorChoice = futures.Executor | str | None
"""Where work runs: an executor or its name, `GPUS`, or None for this machine."""

_named: dict[str, futures.Executor | str] = {}
"""The executors that the user has named; `GPUS` may have another name."""


class Chosen(NamedTuple):
    """An executor, and what is known of it."""

    executor: futures.Executor
    own: Threads | None
    """The same, if it is to be shut down after the work."""
    at_once: int
    """How many tasks run at a time; of an executor of others' it is not known."""
    title: str
    name: str
    """The user's name for it; empty if it has none."""


def name_executors(given: object) -> None:
    """Replaces the executors that are chosen by their names.

    Parameters
    ----------
    given
        The executors by name, as the user gave them.

    Raises
    ------
    CompilescopeError
        It is no such mapping, a name is empty or ``"gpus"``, or a value is no executor.
    """
    check_mapping("executors", given, f"executors by name: {_EXAMPLE}")
    assert isinstance(given, Mapping), "it was checked"
    for name, executor in given.items():
        check_text("A name in executors", name, "the name")
        if not name.strip() or name == GPUS:
            raise CompilescopeError(
                f"{name!r} cannot be the name of an executor.",
                "It means all GPUs of this machine." if name == GPUS else "It is empty.",
                f"Choose another name: {_EXAMPLE}.",
            )
        title = f"The executor {name!r}"
        if executor is None or (isinstance(executor, str) and executor != GPUS):
            raise _no_executor(executor, title)
        check(executor, title)
    _named.clear()
    _named.update(given)


def names() -> list[str]:
    """The names of executors that the user has given."""
    return list(_named)


def check(executor: object, title: str = "executor") -> None:
    """Checks an executor that was given.

    Parameters
    ----------
    title
        What an error calls it.

    Raises
    ------
    CompilescopeError
        It is none, or there is none of this name; or it is ``"gpus"``, and torch sees no GPU.
    """
    if isinstance(executor, str):
        from .gpu_executor import visible_gpus

        if _of_name(executor) == GPUS:
            visible_gpus()
    elif executor is not None and (
        not callable(getattr(executor, "submit", None)) or isinstance(executor, type)
    ):
        raise _no_executor(executor, title)


def _of_name(name: str) -> futures.Executor | str:
    if name == GPUS:
        return name
    if not name.strip():
        raise _no_executor(name)
    if name not in _named:
        raise CompilescopeError(
            f"There is no executor {name!r}.",
            f"The names are {', '.join([GPUS, *_named])}.",
            f"Name it first: {_naming(name)}.",
        )
    return _named[name]


def choose(executor: ExecutorChoice, workers: int = 1) -> Chosen:
    """The executor that was chosen: ``"gpus"`` is a thread here for each GPU.

    Parameters
    ----------
    workers
        How many threads there are without an executor.

    Raises
    ------
    CompilescopeError
        As for `check`; or the number of workers is out of range.
    """
    check(executor)
    name = ""
    if isinstance(executor, str) and executor != GPUS:
        name, executor = executor, _of_name(executor)
    if executor is None:
        check_count("workers", workers, "how many cells compile at once: 2")
        threads = Threads(workers)
        return Chosen(threads, threads, workers, f"processes, {workers} at a time", name)
    if isinstance(executor, str):
        from .gpu_executor import Gpus, visible_gpus

        gpus = visible_gpus()
        threads = Gpus(gpus)
        title = f"processes, one on each of {len(gpus)} GPUs"
        return Chosen(threads, threads, len(gpus), title, name)
    return Chosen(executor, None, workers, name or type(executor).__name__, name)


def unfit(chosen: Chosen, cancelled: Callable[[], bool], how_to_retry: str) -> Problem | None:
    """Why an executor cannot do the work; None if the first worker that answers can, or fails.

    Where a worker cannot unpickle a task, some executors wait forever: this asks a function of
    Python's own first.

    Parameters
    ----------
    cancelled
        Asked while no worker has answered; once true, nothing is known.
    how_to_retry
        What to do once the cause is removed: ``sweep again: finished cells are kept``.
    """
    if chosen.own is not None:
        return None
    try:
        future: object = chosen.executor.submit(pkgutil.resolve_name, _VERSION)
    except Exception:  # noqa: BLE001 - it refuses the work, too, and that is a problem of the work
        return None
    if not isinstance(future, futures.Future):
        return _other_future(future, how_to_retry)
    try:
        while not wait_for_any([future]):
            if cancelled():
                return None
    finally:
        future.cancel()
    if future.cancelled():
        return None
    error = future.exception()
    if error is None and future.result() != __version__:
        what = f"{UNFIT} has compilescope {future.result()}, and this process has {__version__}."
    elif isinstance(error, ImportError) or _NO_PACKAGE in str(error):
        # Some executors pass the exception on as text, after a traceback.
        last = str(error).rstrip(" \n.").rpartition("\n")[2]
        what = f"{UNFIT} cannot import compilescope: {last}."
    else:
        return None
    return Problem(
        severity="error",
        what=what,
        why="A worker starts the processes that measure, and watches them.",
        remedy=f"Install jupyterlab-compilescope {__version__} and the same torch for the workers, "
        f"start them again, and {how_to_retry}.",
    )


def wait_for_any(pending: Collection[futures.Future[Result]]) -> list[futures.Future[Result]]:
    """Waits up to `POLL_S` until a future is done, and returns those that are.

    `futures.wait` omits those that were canceled but whose executor has not acknowledged it: an
    executor that was shut down never does.
    """
    if not any(future.done() for future in pending):
        futures.wait(pending, timeout=POLL_S, return_when=futures.FIRST_COMPLETED)
    return [future for future in pending if future.done()]


def _other_future(future: object, how_to_retry: str) -> Problem:
    of = f"{type(future).__module__.partition('.')[0]}.{type(future).__qualname__}"
    return Problem(
        severity="error",
        what=f"{OTHER_FUTURE} a {of}, not a concurrent.futures.Future.",
        why="It is not an executor of concurrent.futures.",
        remedy=f"Give an executor (of Dask, client.get_executor()), and {how_to_retry}.",
    )


_NO_PACKAGE = "No module named 'compilescope"
_VERSION = "compilescope.version:__version__"
"""What a worker is asked."""


def not_started(error: OSError, how_to_retry: str) -> Problem:
    """Why work has no result: its process could not be started.

    Parameters
    ----------
    how_to_retry
        What to do once the cause is removed: ``sweep again``.
    """
    return Problem(
        severity="error",
        what=f"{NOT_STARTED}: {error}.",
        remedy=f"Free disk space where temporary files go (TMPDIR), and {how_to_retry}.",
    )


def not_taken(error: Exception, during: str, how_to_retry: str, name: str = "") -> Problem:
    """Why work has no result: the executor refused it with an exception.

    Parameters
    ----------
    during
        What needs the executor: ``the sweep``.
    how_to_retry
        What to do with a new executor: ``sweep again: finished cells are kept``.
    name
        The user's name for the executor.
    """
    if isinstance(error, futures.BrokenExecutor):
        return lost(error, how_to_retry, name)
    raised = f"{type(error).__name__}: {error}".rstrip(": .")[:500]
    if isinstance(error, RuntimeError) and "after shutdown" in raised:
        what, why = SHUT_DOWN, f"{raised}."
        that = f"that is not shut down before {during} has ended"
        remedy = f"Name an executor {that}: {_naming(name)}." if name else f"Give one {that}."
    else:
        what, why = f"{NOT_TAKEN}: {raised.splitlines()[0]}.", "Its submit raised this."
        renewed = f" with an executor of this name: {_naming(name)}" if name else ""
        remedy = f"Make executor.submit(len, ()).result() work first{renewed}."
    return Problem(severity="error", what=what, why=why, remedy=remedy)


def lost(error: BaseException, how_to_retry: str, name: str = "") -> Problem:
    """Why work has no result: its worker died, or cannot run it.

    Parameters
    ----------
    how_to_retry
        What to do with a new executor: ``sweep again: finished cells are kept``.
    name
        The user's name for the executor.
    """
    what = LOST
    remedy = (
        "See the log of its worker, which died or cannot run it. Workers need compilescope, the "
        "same torch and memory for the call."
    )
    if isinstance(error, futures.BrokenExecutor):
        renewed = f", name it ({_naming(name)})," if name else ""
        what, remedy = BROKEN, f"Make a new executor{renewed} and {how_to_retry}."
    return Problem(
        severity="error",
        what=f"{what}: {type(error).__name__}.",
        why=f"{str(error)[:500].rstrip('.')}." if str(error) else "",
        remedy=remedy,
    )


def _naming(name: str) -> str:
    return f"compilescope.configure(executors={{{name!r}: executor}})"


_EXAMPLE = "{'cluster': executor}"


def _no_executor(value: object, what: str = "executor") -> CompilescopeError:
    shown = repr(value) if isinstance(value, (str, int, float)) else kind_of(value)
    if isinstance(value, type):
        shown = f"the class {value.__name__}"
    return CompilescopeError(
        f"{what} is {shown}.",
        remedy='Give an executor of concurrent.futures, or "gpus" for the GPUs of this machine.',
    )
