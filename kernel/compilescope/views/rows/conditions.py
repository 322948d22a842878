"""The conditions under which a compilation is reused, as rows."""

from __future__ import annotations

from ...report import CONDITION_FAILED, Compilation, Condition


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
    failed = f" ({CONDITION_FAILED})" if condition.failed else ""
    return f"{condition.requirement}{failed}"
