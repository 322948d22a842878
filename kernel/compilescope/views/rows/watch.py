"""The compilations of a watch as rows of a table, for a terminal and a cell."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.problems.breaks import frame_name
from ...report import Compilation, Report
from .. import wording
from .table import Column, Table

TABLE = Table(
    "watch",
    (
        Column("compilation", "compilation", kind="figure"),
        Column("frame", "frame"),
        Column("cell", "cell"),
        Column("call", "torch.compile"),
        Column("seconds", "seconds", kind="figure"),
        Column("breaks", "breaks", kind="figure"),
        Column("why", "recompiled because"),
    ),
)


def rows(report: Report) -> list[tuple[str, ...]]:
    """Return a row for each compilation, in the order in which torch made them."""
    return [_row(compilation) for compilation in report.compilations]


def notable(compilations: Sequence[Compilation], most: int) -> list[Compilation]:
    """Return at most so many, in order: the latest that broke or were recompiles, then others."""
    newest = sorted(
        range(len(compilations)),
        key=lambda at: (bool(compilations[at].breaks or compilations[at].recompile), at),
        reverse=True,
    )
    return [compilations[at] for at in sorted(newest[:most])]


def headline(report: Report) -> str:
    """Return a summary in one line."""
    compilations = report.compilations
    seconds = sum(compilation.duration_s or 0.0 for compilation in compilations)
    parts = [
        wording.count(len(compilations), "compilation"),
        wording.count(
            sum(compilation.recompile is not None for compilation in compilations), "recompile"
        ),
        wording.count(sum(len(compilation.breaks) for compilation in compilations), "graph break"),
        f"{seconds:.2f} s of compiling",
    ]
    where = wording.place(report.subject.where)
    return report.subject.name + (f" ({where})" if where else "") + ": " + ", ".join(parts)


def _row(compilation: Compilation) -> tuple[str, ...]:
    frame = compilation.frame
    name = f"{frame_name(frame.function)} ({wording.place(frame)})" if frame else "unknown"
    reasons = compilation.recompile.reasons if compilation.recompile else []
    label = compilation.id
    if compilation.torch_id:
        label += f" (torch: {compilation.torch_id})"
    if compilation.reduced:
        label += ", outline"
    return TABLE.row(
        compilation=label,
        frame=name,
        cell=f"[{compilation.cell_number}]" if compilation.cell_number is not None else "",
        call=wording.place(compilation.call),
        seconds="" if compilation.duration_s is None else f"{compilation.duration_s:.3f}",
        breaks=str(len(compilation.breaks)) if compilation.breaks else "",
        why=reasons[0].splitlines()[0] if reasons else "",
    )
