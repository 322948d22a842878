"""The subjects of a kernel in a few lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.figures.environment_words import environment_line
from ..analysis.figures.stages import stage_words
from ..analysis.figures.watch_words import watch_counts
from ..report.units import time_of_day
from . import wording
from .rows.watch import headline
from .wrapper_pairs import compared

if TYPE_CHECKING:
    from ..session.session import Session


def status(session: Session) -> str:
    """Return the versions and the subjects of a session, the newest last."""
    reports = [inspection.report for inspection in session.inspections.values()]
    if not reports:
        return (
            "Nothing inspected yet. Put %%compile at the top of a cell whose last line is a call, "
            "or let %compilescope watch show every compilation."
        )
    lines = [environment_line(reports[-1].environment), watching(session)]
    for report in reports:
        if report.subject.kind == "watch":
            lines.append(f"  {headline(report)}")
            continue
        variants = [f"{variant.name} ({stage_words(variant)})" for variant in compared(report)]
        where = wording.place(report.subject.where)
        lines.append(
            f"  {report.subject.name} {f'({where})' if where else ''}: {', '.join(variants)}"
        )
    return "\n".join(lines)


_WHERE = (
    "Compilations appear as they happen in JupyterLab's right sidebar (the Compilescope icon), and "
    "in a cell with %compilescope status."
)


def watching(session: Session) -> str:
    """Return whether the kernel is watched, and the compilations so far, in a line or two."""
    state = session.watcher.state()
    if not state.subject:
        return "Nothing is watched. %compilescope watch starts it."
    counts = ", ".join(watch_counts(state))
    since = "" if state.since_s is None else f" since {time_of_day(state.since_s)}"
    lines = [(f"Watching{since}: " if state.on else "Not watching; recorded: ") + counts]
    if state.on and not state.compilations:
        # Counts would stay 0 below a cell that begins to watch and then compiles.
        lines = [f"Watching{since}.", _WHERE]
    if state.problem is not None:
        lines.append(f"{wording.MARKS['error']}: {state.problem.what}")
    return "\n".join(lines)
