"""A checkup as text and as HTML."""

from __future__ import annotations

import shutil
import textwrap

from ...report.checkup import Check, CheckState, Checkup
from .templating import render

MARKS: dict[CheckState, str] = {
    "problem": "✗",
    "warning": "!",
    "ok": "✓",
    "not needed": "·",
}


def text(checkup: Checkup) -> str:
    """Return a checkup as plain text."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    lines = [f"{checkup.environment}", checkup.summary()]
    for subject, checks in by_subject(checkup).items():
        lines += ["", subject]
        for check in checks:
            lines += _lines(check, width)
    return "\n".join(lines)


def html(checkup: Checkup) -> str:
    """Return a checkup for a cell: first the problems, then everything in a table."""
    return render(
        "checkup.html",
        checkup=checkup,
        wrong=[
            check
            for state in ("problem", "warning")
            for check in checkup.checks
            if check.state == state
        ],
        by_subject=by_subject(checkup),
        marks=MARKS,
    )


def by_subject(checkup: Checkup) -> dict[str, list[Check]]:
    """Return the checks by subject, in their order."""
    grouped: dict[str, list[Check]] = {}
    for check in checkup.checks:
        grouped.setdefault(check.subject, []).append(check)
    return grouped


def _lines(check: Check, width: int) -> list[str]:
    head = f"  {MARKS[check.state]} {check.name}: {check.finding}"
    lines = textwrap.wrap(head, width, subsequent_indent="      ")
    if check.remedy:
        lines += textwrap.wrap(
            f"→ {check.remedy}", width, initial_indent="      ", subsequent_indent="        "
        )
    return lines
