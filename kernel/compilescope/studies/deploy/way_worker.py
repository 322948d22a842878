"""Measures one way to deploy a call in its processes, whose folders are on the same machine.

This module does not import torch: with an executor it runs in the worker, which stays small.
"""

from __future__ import annotations

import functools
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ...processes.executors import not_started
from ...processes.folders import temporary
from ...processes.runner import WAITING
from ...processes.task_folder import TaskFolder
from ...report.measurements.deployment import DeployWay, in_contexts
from ...report.problem import Problem
from ..first_calls.first_process import run_first_call
from .way_process import Phase, WayResult

HOW_TO_RETRY = "run the study again with the ways that are missing: measured ways are kept"
"""What to do once an executor, or its machine, works."""


class WayTask(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a way that its worker has to know."""

    way: DeployWay
    packed_task: bytes
    """By `first_calls.processes.task`."""
    command: str
    """The Python code of its processes."""
    header: dict[str, Any]
    """Of the subject, for the start of its processes."""
    is_eager: bool
    alone: bool = False
    """Whether its processes hold the device alone: other ways may run on the same machine."""
    variables: dict[str, str] = {}
    """Environment variables of its processes alone."""
    scratch: str = ""
    """A folder of the study's, for the phases of ways; perhaps of another machine."""
    attempt: str = ""
    """Different each time: an executor may merge two calls with equal arguments."""


def run_way(task: WayTask) -> DeployWay:
    """Measures a way, the task of an executor; its machine is the one that this runs on.

    Raises
    ------
    Cancelled
        The study was canceled.
    """
    folder = TaskFolder(task.scratch)
    way = msgspec.structs.replace(task.way, machine=socket.gethostname())
    try:
        measure_way(
            msgspec.structs.replace(task, way=way),
            begins=functools.partial(folder.write_step, way.name),
            cancelled=folder.cancelled,
        )
    except OSError as error:
        way.problem = not_started(error, HOW_TO_RETRY)
    return way


def measure_way(
    task: WayTask, *, begins: Callable[[Phase], None], cancelled: Callable[[], bool]
) -> None:
    """Fills in a way: up to three processes, one after the other, in folders of their own.

    Parameters
    ----------
    begins
        Called with the phase whose process begins.
    cancelled
        Asked many times a second; once true, the process is ended.

    Raises
    ------
    Cancelled
        It was canceled.
    OSError
        A process cannot be started, or the disk is full.
    """
    way, began = task.way, time.monotonic()
    waiting = _Waiting()

    def process(phase: Phase, code: str, caches: Path, folder: Path) -> WayResult:
        begins(phase)
        header = {
            **task.header,
            "phase": phase,
            "code": in_contexts(code, way.contexts),
            "is_eager": task.is_eager,
            "ship": way.ship_code if phase == "cold" else "",
            "folder": str(folder),
            "alone": task.alone,
        }
        answer = run_first_call(
            task.command,
            task.packed_task,
            caches,
            header,
            variables=task.variables,
            cancelled=cancelled,
            stepped=waiting.note,
        )
        waiting.note("")
        if isinstance(answer, Problem):
            return WayResult(problem=answer)
        return msgspec.json.decode(answer, type=WayResult)

    try:
        with temporary("deploy") as place:
            caches, empty, folder = (place / name for name in ("caches", "empty", "shipped"))
            for directory in (caches, empty, folder):
                directory.mkdir()
            if not task.is_eager:
                cold = process("cold", way.code, caches, folder)
                _put_cold(way, cold)
                if way.problem is not None:
                    return
                if cold.ships:
                    _put_shipped(way, process("shipped", way.load_code, empty, folder))
            _put_cached(way, process("cached", way.code, caches, folder), task.is_eager)
    finally:
        way.took_s = time.monotonic() - began - waiting.total_s


def _put_cold(way: DeployWay, cold: WayResult) -> None:
    way.cold_s, way.problem = cold.first_s, cold.problem
    way.ships, way.ship_bytes = list(cold.ships), sum(cold.ships.values()) or None
    way.shipped_why = cold.ship_problem or way.shipped_why


def _put_shipped(way: DeployWay, shipped: WayResult) -> None:
    way.shipped_s, way.shipped_accurate = shipped.first_s, shipped.accurate
    way.comparison = shipped.comparison and f"as shipped, {shipped.comparison}"
    if shipped.problem is not None:
        way.shipped_why = shipped.problem.what


def _put_cached(way: DeployWay, cached: WayResult, is_eager: bool) -> None:
    if is_eager:
        way.cold_s = cached.first_s
    else:
        way.cached_s = cached.first_s
    way.problem = cached.problem
    way.call_us, way.call_interval_us = cached.call_us, cached.call_interval_us
    way.eager_us, way.memory_bytes = cached.eager_us, cached.memory_bytes
    way.speedup = None if is_eager else cached.speedup
    way.settled, way.accurate = cached.settled, cached.accurate
    way.comparison = cached.comparison or way.comparison
    if cached.device:
        way.machine = f"{way.machine}, {cached.device}"


class _Waiting:
    """How long processes waited for a device that others hold."""

    def __init__(self) -> None:
        self.total_s = 0.0
        self._since: float | None = None

    def note(self, step: str) -> None:
        """A step begins."""
        now = time.monotonic()
        if self._since is not None:
            self.total_s += now - self._since
        self._since = now if step == WAITING else None
