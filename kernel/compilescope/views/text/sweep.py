"""A sweep as plain text."""

from __future__ import annotations

from ...report import Report, Sweep
from .. import wording
from ..rows import sweep as sweep_rows
from . import layout


def render(report: Report) -> str:
    """Return a report's sweep as plain text."""
    place = wording.place(report.subject.where)
    head = report.subject.name + (f"  {place}" if place else "")
    return "\n".join([head, *(sweep(report.sweep) if report.sweep is not None else [])])


def sweep(result: Sweep) -> list[str]:
    """Return the lines of a sweep: its cells, then its result."""
    lines = [sweep_rows.headline(result)]
    lines += [
        f"{wording.MARKS[problem.severity]}: "
        + " ".join(filter(None, (problem.what, problem.why, problem.remedy)))
        for problem in result.problems
    ]
    lines += layout.lines([sweep_rows.TABLE.head, *sweep_rows.rows(result)])
    verdicts = sweep_rows.verdicts(result)
    code = [result.code] if result.code else []
    return [*lines, "", *verdicts, *code] if verdicts else lines
