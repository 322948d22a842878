"""What a kernel has inspected, in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import wording
from .pairs import compared
from .summary import environment

if TYPE_CHECKING:
    from ..session import Session


def status(session: Session) -> str:
    """Return the versions and the subjects of a session, the newest last."""
    reports = [inspection.report for inspection in session.inspections.values()]
    if not reports:
        return "Nothing inspected yet. Put %%compile over a cell whose last line is a call."
    lines = [environment(reports[-1])]
    for report in reports:
        told = [f"{one.name} ({wording.stage(one)})" for one in compared(report)]
        where = wording.place(report.subject.where)
        lines.append(f"  {report.subject.name} {f'({where})' if where else ''}: {', '.join(told)}")
    return "\n".join(lines)
