"""Measures ways to deploy on an executor, each a task of its own."""

from __future__ import annotations

import concurrent.futures as futures
import socket
import time
from collections.abc import Callable, Sequence
from typing import cast

import msgspec

from ...processes import executors
from ...processes.executors import BROKEN, ENDING_S, TRIES, Chosen, ExecutorChoice
from ...processes.folders import temporary
from ...processes.task_folder import TaskFolder
from ...progress.progress import Monitor
from ...report.errors import CompilescopeError
from ...report.measurements.deployment import DeployWay
from ...report.problem import Problem
from .deploy_progress import DeployProgress
from .way_process import Phase
from .way_worker import HOW_TO_RETRY, WayTask, run_way


def measure_on(
    executor: ExecutorChoice,
    tasks: Sequence[WayTask],
    monitor: Monitor,
    deploy_progress: DeployProgress,
    variant: str,
    finish: Callable[[DeployWay], None],
) -> None:
    """Measures ways, in the order in which the executor runs them.

    Parameters
    ----------
    tasks
        By way, in the order of submitting.
    variant
        The variant's name, for the progress.
    finish
        Called with each way that was measured, or that the executor lost `TRIES` times.

    Raises
    ------
    CompilescopeError
        The executor takes no more tasks. Ways that it has measured are finished.
    Cancelled
        The study was canceled; no process of it is left that this machine can see.
    """
    chosen = executors.choose(executor)
    try:
        with temporary("ways") as scratch:
            folder = TaskFolder(scratch)
            folder.allow()
            _Pending(chosen, folder, finish).work(tasks, monitor, deploy_progress, variant)
    finally:
        if chosen.own is not None:
            chosen.own.shutdown(wait=False)


class _Pending:
    """The ways that an executor has, and how often each was given to it."""

    def __init__(
        self, chosen: Chosen, folder: TaskFolder, finish: Callable[[DeployWay], None]
    ) -> None:
        self._chosen = chosen
        self._folder = folder
        self._finish = finish
        self._tasks: dict[futures.Future[DeployWay], WayTask] = {}
        self._tries: dict[str, int] = {}

    def work(
        self,
        tasks: Sequence[WayTask],
        monitor: Monitor,
        deploy_progress: DeployProgress,
        variant: str,
    ) -> None:
        """Submits the tasks and waits until all are done; ends them if it is left before that."""
        shown = ""
        try:
            monitor.step(f"waiting for {executors.A_WORKER}", variant=variant)
            unfit = executors.unfit(self._chosen, lambda: monitor.cancelled, HOW_TO_RETRY)
            if unfit is not None:
                raise _refused(unfit)
            monitor.check()
            for task in tasks:
                self._submit(task)
            while self._tasks:
                monitor.check()
                step, fraction = deploy_progress.several(self._phases())
                if step != shown:
                    shown = step
                    monitor.step(step, variant=variant, fraction=fraction)
                ended = executors.wait_for_any(self._tasks)
                # Results first: an executor that breaks may have some.
                for future in sorted(ended, key=_has_failed):
                    self._on_done(future)
        finally:
            self._end()

    def _submit(self, task: WayTask) -> None:
        name = task.way.name
        self._tries[name] = self._tries.get(name, 0) + 1
        attempt = f"{name} {self._tries[name]} {time.time_ns()}"
        attempted = msgspec.structs.replace(task, scratch=str(self._folder.path), attempt=attempt)
        try:
            self._tasks[self._chosen.executor.submit(run_way, attempted)] = task
        except Exception as error:
            problem = executors.not_taken(error, "the study", HOW_TO_RETRY, self._chosen.name)
            raise _refused(problem) from error

    def _on_done(self, future: futures.Future[DeployWay]) -> None:
        task = self._tasks.pop(future)
        self._folder.remove_step(task.way.name)
        error = futures.CancelledError() if future.cancelled() else future.exception()
        if error is None:
            self._finish(_seen_from_here(future.result()))
        elif self._tries[task.way.name] < TRIES:
            # `run_way` raises nothing of the way's: the worker died, or the connection to it.
            self._submit(task)
        else:
            problem = executors.lost(error, HOW_TO_RETRY, self._chosen.name)
            if problem.what.startswith(BROKEN):
                raise _refused(problem)
            self._finish(msgspec.structs.replace(task.way, problem=problem))

    def _phases(self) -> dict[str, Phase]:
        """The ways that run, each with its phase, as far as they are visible."""
        phases: dict[str, Phase] = {}
        for task in self._tasks.values():
            if step := self._folder.read_step(task.way.name):
                phases[task.way.name] = cast(Phase, step)
        return phases

    def _end(self) -> None:
        """Withdraws the tasks that are left, ends those that run and keeps what was measured."""
        self._folder.cancel()
        left = [future for future in self._tasks if not future.cancel()]
        self._tasks.clear()
        futures.wait(left, timeout=ENDING_S)
        for future in left:
            if future.done() and not _has_failed(future):
                self._finish(_seen_from_here(future.result()))


def _has_failed(future: futures.Future[DeployWay]) -> bool:
    return future.cancelled() or future.exception() is not None


def _seen_from_here(way: DeployWay) -> DeployWay:
    """The way, without its machine if it is this one."""
    if way.machine.partition(",")[0] == socket.gethostname():
        way.machine = ""
    return way


def _refused(problem: Problem) -> CompilescopeError:
    return CompilescopeError(problem.what, problem.why, problem.remedy)
