"""Runs a cell in a separate process, on the machine that an executor chose.

A plain function and plain data are sent there, whatever the executor. This module does not import
torch: the executor's own process stays small, and survives a cell that crashes.
"""

from __future__ import annotations

import functools
import os
import pickle
import signal
import socket
import time
from typing import Any

import msgspec

from ..processes.executors import not_started
from ..processes.last_words import NOISE
from ..processes.runner import Ended, Limits, describe_exit, run
from ..processes.task_folder import TaskFolder
from ..report.measurements.sweeps import SweepCell
from ..report.problem import Problem

KILLED = f"Its process died: {describe_exit(-signal.SIGKILL)}."
"""What the problem of a cell is that the system may have ended."""

_LAST_LINES = 16


class CellTask(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a cell that its process has to know."""

    cell: SweepCell
    data: bytes
    """The subject, packed."""
    header: dict[str, Any]
    seconds: float
    items: float
    limits: Limits
    variables: dict[str, str] = {}
    """Environment variables of its process alone."""
    scratch: str
    """A folder of the sweep's, for the steps of cells; perhaps of another machine."""
    attempt: str
    """Different each time: an executor may merge two calls with equal arguments."""


class CellResult(msgspec.Struct, kw_only=True):
    """What the process gives back."""

    cell: SweepCell
    must_repeat: bool = False
    """Whether the cell has to run once more, because this run precompiled C++ headers."""


def run_cell(task: CellTask) -> SweepCell:
    """Runs a cell in a separate process and returns its outcome; raises none of its errors."""
    started = time.time()
    folder = TaskFolder(task.scratch)
    cell = task.cell
    for may_repeat in (True, False):
        work = pickle.dumps((task.cell, task.data, task.seconds, task.items, may_repeat))
        try:
            ended = run(
                ("-m", "compilescope.sweep.cell_process"),
                work,
                header=task.header,
                limits=task.limits,
                variables=task.variables,
                cancelled=folder.cancelled,
                stepped=functools.partial(folder.write_step, cell.key),
            )
        except OSError as error:
            cell = _ended_cell(task.cell, "failed", not_started(error, "sweep again"))
            break
        if ended.how != "done":
            cell = _unfinished(task, ended)
            break
        result = msgspec.json.decode(ended.result, type=CellResult)
        cell = result.cell
        if not result.must_repeat:
            break
    cell.worker = f"{socket.gethostname()}:{os.getpid()}"
    cell.started_s, cell.took_s = started, time.time() - started
    return cell


def _unfinished(task: CellTask, ended: Ended) -> SweepCell:
    lines = [line for line in ended.errors.splitlines() if line and not line.startswith(NOISE)]
    last = "\n".join(lines[-_LAST_LINES:])
    if ended.how == "cancelled":
        return _ended_cell(task.cell, "cancelled", None)
    if ended.how == "timeout":
        problem = Problem(
            severity="error",
            what=f"It was ended after {task.limits.timeout_s:g} s.",
            remedy="Increase timeout_s, or leave this variant out.",
            detail=last,
        )
        return _ended_cell(task.cell, "timeout", problem)
    if ended.how == "memory":
        problem = Problem(
            severity="error",
            what=f"Stopped: its processes used {ended.peak_bytes / 1e9:.3g} GB.",
            why=f"The sweep allows {(task.limits.memory_bytes or 0) / 1e9:g} GB.",
            remedy="Increase memory_gb, or use smaller arguments.",
            detail=last,
        )
        return _ended_cell(task.cell, "memory", problem)
    killed = ended.exit_code == -signal.SIGKILL
    problem = Problem(
        severity="error",
        what=f"Its process died: {describe_exit(ended.exit_code)}.",
        why="The system may have ended it because memory ran out." if killed else "",
        remedy="Set memory_gb, so that it is stopped before that." if killed else "",
        detail=last,
    )
    return _ended_cell(task.cell, "crashed", problem)


def _ended_cell(cell: SweepCell, state: Any, problem: Problem | None) -> SweepCell:
    return msgspec.structs.replace(cell, state=state, problem=problem)
