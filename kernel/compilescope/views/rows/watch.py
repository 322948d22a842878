"""The compilations of a watch as rows of a table, for a terminal and a cell."""

from __future__ import annotations

from typing import NamedTuple

from ...report import Compilation, Report
from .. import wording

HEADS = ("compilation", "frame", "cell", "torch.compile", "seconds", "breaks", "recompiled because")


class Row(NamedTuple):
    """One compilation; the fields are those of `HEADS`."""

    id: str
    frame: str
    cell: str
    call: str
    seconds: str
    breaks: str
    recompile: str


def rows(report: Report) -> list[Row]:
    """Return a row for each compilation, in the order in which torch made them."""
    return [_row(compilation) for compilation in report.compilations]


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


def _row(compilation: Compilation) -> Row:
    frame = compilation.frame
    name = f"{frame.function} ({wording.place(frame)})" if frame else "unknown"
    reasons = compilation.recompile.reasons if compilation.recompile else []
    label = compilation.id
    if compilation.torch_id:
        label += f" (torch: {compilation.torch_id})"
    if compilation.reduced:
        label += ", outline"
    return Row(
        label,
        name,
        f"[{compilation.cell_number}]" if compilation.cell_number is not None else "",
        wording.place(compilation.call),
        "" if compilation.duration_s is None else f"{compilation.duration_s:.3f}",
        str(len(compilation.breaks)) if compilation.breaks else "",
        reasons[0].splitlines()[0] if reasons else "",
    )
