"""The compilations of a watch as rows of a table, for a terminal and a cell."""

from __future__ import annotations

from collections.abc import Sequence

from ...analysis.figures.counts import break_count, is_recompile, recompile_count
from ...analysis.figures.outcome_words import compilation_count_of, outcome_words
from ...analysis.problems.distinct_breaks import most_wasteful_first
from ...report import Compilation, DistinctBreak, Recompile, Report
from ...report.resumed import plain_function
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
        Column("outcome", "outcome"),
        Column("breaks", "breaks", kind="figure"),
        Column("why", "recompiled because"),
    ),
)


def rows(report: Report) -> list[tuple[str, ...]]:
    """Return a row for each compilation, in the order in which torch made them."""
    return [_row(compilation) for compilation in report.compilations]


def notable(compilations: Sequence[Compilation], most: int) -> list[Compilation]:
    """Return at most so many, in order: the latest that failed, broke, recompiled, then others."""
    newest = sorted(
        range(len(compilations)),
        key=lambda at: (_is_notable(compilations[at]), at),
        reverse=True,
    )
    return [compilations[at] for at in sorted(newest[:most])]


def _is_notable(compilation: Compilation) -> bool:
    return compilation.outcome != "compiled" or bool(compilation.breaks or compilation.recompile)


_CAUSES = 2
"""The most functions that recompiled, and the most graph breaks, in a summary."""


def causes(report: Report) -> list[tuple[str, str]]:
    """Return what recompiled and because of what, then the graph breaks: titles and texts."""
    recompiles: dict[str, list[Recompile]] = {}
    for compilation in report.compilations:
        if compilation.recompile is not None and is_recompile(compilation):
            # What follows a graph break is compiled again with the function that it belongs to.
            frame = compilation.frame
            function = plain_function(frame.function) if frame else "an unknown frame"
            recompiles.setdefault(function, []).append(compilation.recompile)
    often = sorted(recompiles.items(), key=lambda item: -len(item[1]))
    breaks = most_wasteful_first(
        (graph_break for variant in report.variants for graph_break in variant.breaks),
        report.compilations,
    )
    return [
        *(("Recompiled:", _recompiled(*function)) for function in often[:_CAUSES]),
        *_more_row(len(often) - _CAUSES, "function", "recompiled"),
        *(("Graph break:", _broken(graph_break)) for graph_break in breaks[:_CAUSES]),
        *_more_row(len(breaks) - _CAUSES, "graph break"),
    ]


def _recompiled(function: str, recompiles: list[Recompile]) -> str:
    times = f", {wording.whole_number(len(recompiles))} times" if len(recompiles) > 1 else ""
    cause = recompiles[-1].cause
    if not cause:
        return f"{function}{times}"
    return f"{function}{times}; {'the last time ' if times else ''}because {cause}"


def _broken(graph_break: DistinctBreak) -> str:
    cause = graph_break.cause
    times = f", {wording.whole_number(graph_break.count)} times" if graph_break.count > 1 else ""
    code = cause.where.code.strip().rstrip(":") if cause.where else ""
    where = wording.place(cause.where)
    return f"{': '.join(filter(None, [where, code]))}{times}: {cause.reason.splitlines()[0]}"


def _more_row(number: int, noun: str, what: str = "") -> list[tuple[str, str]]:
    counted = f"{wording.count(number, f'more {noun}')} {what}".strip()
    return [("", counted)] if number > 0 else []


def headline(report: Report) -> str:
    """Return a summary in one line."""
    compilations = report.compilations
    seconds = sum(compilation.duration_s or 0.0 for compilation in compilations)
    parts = [
        compilation_count_of(compilations),
        wording.count(recompile_count(compilations), "recompile"),
        break_count([broken for variant in report.variants for broken in variant.breaks]),
        wording.compile_time(seconds),
    ]
    where = wording.place(report.subject.where)
    return (
        report.subject.name
        + (f" ({where})" if where else "")
        + ": "
        + ", ".join(filter(None, parts))
    )


def _row(compilation: Compilation) -> tuple[str, ...]:
    label = compilation.id
    if compilation.torch_id:
        label += f" (torch: {compilation.torch_id})"
    if compilation.reduced:
        label += ", outline"
    return TABLE.row(
        compilation=label,
        frame=_frame(compilation),
        cell=f"[{compilation.cell_number}]" if compilation.cell_number is not None else "",
        call=wording.place(compilation.call),
        seconds="" if compilation.duration_s is None else f"{compilation.duration_s:.3f}",
        outcome=outcome_words(compilation.outcome),
        breaks=wording.whole_number(len(compilation.breaks)) if compilation.breaks else "",
        why=compilation.recompile.cause if compilation.recompile else "",
    )


def _frame(compilation: Compilation) -> str:
    frame = compilation.frame
    return f"{frame.function} ({wording.place(frame)})" if frame else "unknown"
