"""The conditions under which a compilation is reused, as rows."""

from __future__ import annotations

from ...report import Compilation, Condition

FAILED = "has failed"


def rows(compilation: Compilation, most: int) -> list[Condition]:
    """Return the first conditions of inputs and values, and those of groups of guards."""
    single = [condition for condition in compilation.conditions if condition.guard is not None]
    groups = [condition for condition in compilation.conditions if condition.guard is None]
    return [*single[:most], *groups]


def left_out(compilation: Compilation, most: int) -> int:
    """Return how many conditions `rows` leaves out."""
    return len(compilation.conditions) - len(rows(compilation, most))


def requirement(condition: Condition) -> str:
    """Return a condition, and whether it failed."""
    return f"{condition.requirement} ({FAILED})" if condition.failed else condition.requirement
