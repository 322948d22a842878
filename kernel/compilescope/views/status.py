"""The subjects of a kernel in a few lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from . import wording
from .rows.watch import headline
from .summary import environment
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
    lines = [environment(reports[-1]), watching(session)]
    for report in reports:
        if report.subject.kind == "watch":
            lines.append(f"  {headline(report)}")
            continue
        variants = [f"{variant.name} ({wording.stage(variant)})" for variant in compared(report)]
        where = wording.place(report.subject.where)
        lines.append(
            f"  {report.subject.name} {f'({where})' if where else ''}: {', '.join(variants)}"
        )
    return "\n".join(lines)


def watching(session: Session) -> str:
    """Return whether the kernel is watched, and the compilations so far, in a line or two."""
    state = session.watcher.state()
    if not state.subject:
        return "Nothing is watched. %compilescope watch starts it."
    seen = [
        wording.count(state.compilations, "compilation"),
        wording.count(state.recompiles, "recompile"),
        wording.count(state.breaks, "graph break"),
        f"{state.seconds:.1f} s of compiling",
        f"{state.held_bytes / 1e6:.1f} of {state.budget_bytes / 1e6:.0f} MB held",
    ]
    since = time.strftime("%H:%M:%S", time.localtime(state.since_s))
    lines = [
        (f"Watching since {since}: " if state.on else "Not watching; recorded: ") + ", ".join(seen)
    ]
    if state.reduced:
        lines.append(f"{wording.count(state.reduced, 'compilation')} reduced to an outline.")
    if state.problem is not None:
        lines.append(f"{wording.MARKS['error']}: {state.problem.what}")
    return "\n".join(lines)
