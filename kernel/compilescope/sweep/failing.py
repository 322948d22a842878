"""A cell that cannot be measured, and why."""

from __future__ import annotations

import traceback
from pathlib import Path

from ..errors import CompilescopeError
from ..problem import Problem, fault
from ..sweeps import SweepCell
from ..torch_api import failures

_PACKAGE = Path(__file__).parents[1]
_MEMORY = ("OutOfMemoryError", "MemoryError", "memory: you tried to allocate")
"""How exceptions say that memory ran out; the last, of the CPU's allocator, is a RuntimeError."""


def fail(cell: SweepCell, error: Exception) -> None:
    """Ends a cell with an exception: the subject's own or its factory's, torch's or ours."""
    if isinstance(error, CompilescopeError):
        end(cell, error.problem)
    elif _is_ours(error):
        end(cell, fault(error))
    else:
        end(cell, failures.explain(error))


def _is_ours(error: Exception) -> bool:
    """Whether it was raised in this package itself, and not in what that has called."""
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).is_relative_to(_PACKAGE)


def end(cell: SweepCell, problem: Problem) -> None:
    """Ends a cell with a problem."""
    said = f"{problem.what} {problem.detail}"
    cell.state = "memory" if any(word in said for word in _MEMORY) else "failed"
    cell.problem = problem
