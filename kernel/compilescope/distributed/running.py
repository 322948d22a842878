"""Inspects a call on several ranks at once, each in a separate process on this machine."""

from __future__ import annotations

import datetime
import itertools
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import cloudpickle
import torch
import torch.distributed as dist

from ..analysis.changes.ranks import compare
from ..processes.folders import temporary
from ..processes.last_words import last_words
from ..processes.runner import Ended, Limits, describe_exit, run
from ..processes.torchrun import AgentStore, Torchrun, torchrun_environment
from ..progress.progress import Monitor
from ..report import Report
from ..report.argument_checks import check_count, check_function, check_number, check_text
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..report.saving.storage import from_json
from ..report.subjects.ranks import Rank
from ..report.variant import Variant
from ..subject import pickled_subject
from .failed_ranks import ENDED_FOR_ANOTHER, failed_report, name_causes
from .rendezvous import at_torchrun
from .votes import LEAVING

MAX_RANKS = 16
_GRACE_S = 5.0
"""How long the others may continue after one has died or left, to report their own errors."""
_POLL_S = 0.2
_LAST = 4000
_calls = itertools.count(1)


def run_ranks(
    factory: Callable[[], Any],
    variants: Mapping[str, Variant],
    *,
    size: int,
    backend: str,
    build: bool,
    timeout_s: float,
    monitor: Monitor,
) -> list[Report]:
    """Reports of all ranks, with the differences between them.

    The report of a rank that dies or takes too long says so.

    Parameters
    ----------
    factory
        Returns ``(fn, args)`` or ``(fn, args, kwargs)`` in each process, once the group exists.

    Raises
    ------
    CompilescopeError
        The factory cannot be pickled, or this machine lacks the backend or enough devices.
    """
    process = torchrun_environment()
    store = process.store if process is not None else None
    check_function("factory", factory)
    _check(size if process is None or store is None else process.local_size, backend, timeout_s)
    packed = pickled_subject.pack(factory=factory)
    task = cloudpickle.dumps((dict(variants), packed, build))
    if process is not None and store is not None:
        return _run_own_rank(process, store, task, backend, timeout_s, monitor)
    group = uuid.uuid4().hex[:12]
    failed = threading.Event()
    steps: dict[int, str] = {}
    port = _free_port()
    with (
        temporary("ranks") as folder,
        ThreadPoolExecutor(size, thread_name_prefix="compilescope-rank") as pool,
    ):
        futures = [
            pool.submit(
                _run,
                task,
                _Place(rank, size, backend, group, str(folder / "meeting"), port),
                timeout_s,
                monitor,
                failed,
                steps,
            )
            for rank in range(size)
        ]
        _watch(futures, monitor, steps)
    monitor.check()
    reports = [
        _report(rank, size, backend, group, future.result(), timeout_s)
        for rank, future in enumerate(futures)
    ]
    name_causes(reports)
    compare(reports)
    return reports


def _run_own_rank(
    process: Torchrun,
    agent: AgentStore,
    task: bytes,
    backend: str,
    timeout_s: float,
    monitor: Monitor,
) -> list[Report]:
    """Inspects the call on the rank of this process, and exchanges reports with the others."""
    # All ranks make the same calls, so their numbers agree.
    group = f"{agent.attempt}-{next(_calls)}"
    header = {
        **pickled_subject.header(),
        "rank": process.rank,
        "size": process.size,
        "backend": backend,
        "group": group,
        "store": agent,
        "timeout_s": timeout_s,
    }
    ended = run(
        ("-m", "compilescope.distributed.process"),
        task,
        header=header,
        limits=Limits(timeout_s=timeout_s),
        cancelled=lambda: monitor.cancelled,
        stepped=monitor.step,
    )
    monitor.check()
    own = _report(process.rank, process.size, backend, group, ended, timeout_s)
    store = at_torchrun(agent, group)
    store.set(f"report {process.rank}", own.to_json())
    reports = [
        _wait_for_report(rank, store, process.size, backend, group, timeout_s)
        for rank in range(process.size)
    ]
    name_causes(reports)
    compare(reports)
    return reports


def _wait_for_report(
    rank: int, store: Any, size: int, backend: str, group: str, timeout_s: float
) -> Report:
    """The report that a rank has put into the store."""
    # The rank may use its whole time limit, and may have begun later than this one.
    patience_s = 2 * timeout_s
    try:
        store.wait([f"report {rank}"], datetime.timedelta(seconds=patience_s))
    except RuntimeError:  # the time is over
        problem = Problem(
            severity="error",
            what=f"Rank {rank} gave no report.",
            why=f"It gave none within {patience_s:g} s after the end of this rank: its torchrun "
            "process did not call ranks, takes longer, or died.",
            remedy="Look at the output of that process, or raise timeout_s.",
        )
        return failed_report(_rank(rank, size, backend, group), problem)
    return from_json(store.get(f"report {rank}"), name=f"The report of rank {rank}")


class _Place:
    """The configuration of a rank."""

    def __init__(
        self, rank: int, size: int, backend: str, group: str, meeting: str, port: int
    ) -> None:
        self.rank = rank
        self.header = {
            **pickled_subject.header(),
            "rank": rank,
            "size": size,
            "backend": backend,
            "group": group,
            "meeting": meeting,
        }
        self.variables = {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(size),
            "LOCAL_WORLD_SIZE": str(size),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }


def _run(
    task: bytes,
    place: _Place,
    timeout_s: float,
    monitor: Monitor,
    failed: threading.Event,
    steps: dict[int, str],
) -> Ended:
    since: list[float] = []

    def cancelled() -> bool:
        if failed.is_set() and not since:
            since.append(time.monotonic())
        return monitor.cancelled or bool(since and time.monotonic() - since[0] > _GRACE_S)

    def stepped(step: str) -> None:
        steps[place.rank] = step
        if step == LEAVING:
            failed.set()

    try:
        ended = run(
            ("-m", "compilescope.distributed.process"),
            task,
            header={**place.header, "timeout_s": timeout_s},
            limits=Limits(timeout_s=timeout_s),
            cancelled=cancelled,
            stepped=stepped,
            variables=place.variables,
        )
    except BaseException:
        # For example, the process could not be started; the other ranks would wait for it.
        failed.set()
        raise
    if ended.how != "done":
        failed.set()
    return ended


def _watch(futures: list[Future[Ended]], monitor: Monitor, steps: Mapping[int, str]) -> None:
    """Waits for all ranks and shows their progress; an interrupt ends them first."""
    last_step = ""
    try:
        while wait(futures, timeout=_POLL_S).not_done:
            now = "; ".join(f"rank {rank}: {step}" for rank, step in sorted(steps.items()))
            if now != last_step:
                last_step = now
                monitor.step(now)
    except BaseException:
        monitor.cancel()
        wait(futures)
        raise


def _report(
    rank: int, size: int, backend: str, group: str, ended: Ended, timeout_s: float
) -> Report:
    if ended.how == "done":
        return from_json(ended.result, name=f"The report of rank {rank}")
    return failed_report(_rank(rank, size, backend, group), _problem(rank, ended, timeout_s))


def _rank(rank: int, size: int, backend: str, group: str) -> Rank:
    return Rank(rank=rank, size=size, backend=backend, group=group)


def _problem(rank: int, ended: Ended, timeout_s: float) -> Problem:
    if ended.how == "timeout":
        return Problem(
            severity="error",
            what=f"Rank {rank} was ended after {timeout_s:g} s.",
            why="It may wait in a collective that another rank does not call.",
            remedy="Look at the problems of the other ranks, or raise timeout_s.",
            detail=ended.errors[-_LAST:],
        )
    if ended.how == "cancelled":
        return Problem(
            severity="error",
            what=f"Rank {rank} was ended, {ENDED_FOR_ANOTHER}",
            detail=ended.errors[-_LAST:],
        )
    return Problem(
        severity="error",
        what=f"The process of rank {rank} died: {describe_exit(ended.exit_code)}.",
        why=last_words(ended.errors),
        remedy="Make the call work under torchrun first, without compilescope."
        + (" What the process wrote is below." if ended.errors.strip() else ""),
        detail=ended.errors[-_LAST:],
    )


def _check(size: int, backend: str, timeout_s: float) -> None:
    if not dist.is_available():
        raise CompilescopeError(
            "This torch was built without torch.distributed.", remedy="Install one that has it."
        )
    check_count("size", size, f"the number of ranks, 1 to {MAX_RANKS}")
    check_number("timeout_s", timeout_s, "a positive number of seconds: 300")
    check_text("backend", backend, "the name of a backend of torch.distributed: gloo")
    if size > MAX_RANKS:
        raise CompilescopeError(
            f"size is {size!r}.",
            f"One machine runs 1 to {MAX_RANKS} ranks.",
            "Give a number of ranks.",
        )
    if "nccl" in backend and torch.cuda.device_count() < size:
        raise CompilescopeError(
            f"{size} ranks cannot use the backend {backend!r} here.",
            f"Each needs a GPU, and there are {torch.cuda.device_count()}.",
            "Use backend='gloo', or fewer ranks.",
        )
    if not dist.is_backend_available(backend):
        available = [name for name in dist.Backend.backend_list if dist.is_backend_available(name)]
        raise CompilescopeError(
            f"There is no backend {backend!r} for torch.distributed here.",
            remedy=f"Available: {', '.join(available)}.",
        )


def _free_port() -> int:
    """A free port, for a subject that creates its own group with MASTER_PORT."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
