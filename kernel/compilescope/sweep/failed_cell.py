"""A cell that cannot be measured, and why."""

from __future__ import annotations

from ..report.measurements.sweeps import SweepCell
from ..report.problem import Problem
from ..torch_api.failures import failures

_MEMORY = ("OutOfMemoryError", "MemoryError", "memory: you tried to allocate")
"""Text in out-of-memory exceptions; the last is from a RuntimeError of the CPU's allocator."""


def fail(cell: SweepCell, error: Exception, raiser: str = "") -> None:
    """Ends a cell with an exception: the subject's own, torch's or compilescope's.

    Parameters
    ----------
    raiser
        What raised it before there was a call: ``The factory``.
    """
    end(cell, failures.of_process(error, raiser))


def end(cell: SweepCell, problem: Problem) -> None:
    """Ends a cell with a problem."""
    text = f"{problem.what} {problem.detail}"
    cell.state = "memory" if any(word in text for word in _MEMORY) else "failed"
    cell.problem = problem
