"""What to change first: the avoidable compile time of a trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..analysis.figures.counts import is_recompile
from ..analysis.figures.wording import count
from ..report import Compilation, SourceLine, VariantReport
from ..report.problem import Struct
from ..report.resumed import plain_function
from ..report.subjects.traces import LostTime


class CompileSeconds(Struct):
    """Torch's figures of one compilation, in seconds."""

    inductor_s: float = 0.0
    restarted_s: float = 0.0
    """Spent on attempts that Dynamo abandoned, other than those that a graph break ended."""
    restart_why: str = ""
    restart_remedy: str = ""


def lost_time(
    variants: Iterable[VariantReport], spent: Mapping[str, Mapping[str, CompileSeconds]]
) -> list[LostTime]:
    """Rank the avoidable causes of compile time, the longest first.

    Parameters
    ----------
    variants
        Of a trace: one for each process.
    spent
        Process → compile id → its figures.

    Returns
    -------
    list of LostTime
        Each second is counted under one cause: a failed recompile counts as a failure, and one
        that bypassed a cache as a recompile. A graph break costs only the attempts that it ended,
        where their compilation is no failure and no recompile; the code after it is compiled
        without the break too; one for which nothing was compiled again is listed without time.
        Recompiles that are normal are left out. Restarts are those for other reasons.
    """
    longest: dict[tuple[str, str, SourceLine | None], LostTime] = {}
    for variant in variants:
        for loss in _of_process(variant, spent.get(variant.name, {})):
            if not loss.seconds and loss.kind != "graph break":
                continue  # torch logged no time of it
            key = (loss.kind, loss.why, loss.where)
            if key not in longest or longest[key].seconds < loss.seconds:
                longest[key] = loss
    return sorted(longest.values(), key=lambda loss: -loss.seconds)


def _of_process(variant: VariantReport, spent: Mapping[str, CompileSeconds]) -> Iterator[LostTime]:
    seconds = {
        compilation.id: compilation.duration_s or 0.0 for compilation in variant.compilations
    }
    counted: set[str] = set()
    for problem in variant.problems:
        ids = [name for name in problem.compilations if name in seconds and name not in counted]
        if ids:
            counted.update(ids)
            why = problem.why.partition("\n")[0]
            yield LostTime(
                kind="failure",
                seconds=sum(seconds[name] for name in ids),
                what=problem.what,
                why="" if why in problem.what else why,
                remedy=problem.remedy,
                where=problem.where,
                process=variant.name,
                compilations=ids,
            )
    for recompiles in _recompiles(variant, seconds, counted):
        counted.update(recompiles.compilations)
        yield recompiles
    yield from _breaks(variant, counted)
    yield from _restarts(variant, spent, counted)
    yield from _bypasses(variant, spent, counted)


def _breaks(variant: VariantReport, counted: set[str]) -> Iterator[LostTime]:
    if not variant.breaks:
        return
    # A trace without breaks does not need them.
    from ..analysis.problems.breaks import break_key
    from ..report.break_advice import advice_on, is_by_design

    ended: dict[tuple[str, str, int], dict[str, float]] = {}
    for compilation in variant.compilations:
        for graph_break in compilation.breaks:
            if compilation.id not in counted:
                by_compilation = ended.setdefault(break_key(graph_break), {})
                by_compilation[compilation.id] = (graph_break.duration_us or 0.0) / 1e6
    for distinct in variant.breaks:
        seconds = ended.get(break_key(distinct.cause))
        if seconds and not is_by_design(distinct.cause):
            reason = distinct.cause.reason.partition("\n")[0]
            yield LostTime(
                kind="graph break",
                seconds=sum(seconds.values()),
                what=f"a graph break: {reason}",
                remedy=advice_on(distinct.cause),
                where=distinct.cause.where,
                process=variant.name,
                compilations=list(seconds),
            )


def _restarts(
    variant: VariantReport, spent: Mapping[str, CompileSeconds], counted: set[str]
) -> Iterator[LostTime]:
    for compilation in variant.compilations:
        figures = spent.get(compilation.id, CompileSeconds())
        if figures.restarted_s and compilation.id not in counted:
            yield LostTime(
                kind="restarts",
                seconds=figures.restarted_s,
                what=f"Dynamo began {compilation.id} again",
                why=figures.restart_why,
                remedy=figures.restart_remedy,
                where=compilation.frame,
                process=variant.name,
                compilations=[compilation.id],
            )


def _function(frame: SourceLine | None) -> str:
    return "a frame" if frame is None else plain_function(frame.function)


def _recompiles(
    variant: VariantReport, seconds: Mapping[str, float], counted: set[str]
) -> Iterator[LostTime]:
    recompiles = [
        compilation
        for compilation in variant.compilations
        if is_recompile(compilation) and compilation.id not in counted
    ]
    if not recompiles:
        return
    # Most traces have no recompile.
    from ..analysis.guards.reasons.expected_recompiles import is_avoidable

    frames: dict[SourceLine | None, list[Compilation]] = {}
    for compilation in recompiles:
        if compilation.recompile is None or is_avoidable(compilation.recompile):
            frames.setdefault(compilation.frame, []).append(compilation)
    for frame, recompiled in frames.items():
        causes = [
            compilation.recompile.cause
            for compilation in recompiled
            if compilation.recompile is not None
        ]
        name = _function(frame)
        yield LostTime(
            kind="recompiles",
            seconds=sum(seconds[compilation.id] for compilation in recompiled),
            what=f"{count(len(recompiled), 'recompile')} of {name}",
            why=_each(causes),
            remedy=_AGAINST_SIZES if all(map(_SIZE.search, causes)) else "",
            where=frame,
            process=variant.name,
            compilations=[compilation.id for compilation in recompiled],
        )


_SIZE = re.compile(r"\.size\(\d*\): ")
_AGAINST_SIZES = (
    "Mark the size with torch._dynamo.mark_dynamic before the first call, or compile with "
    "dynamic=True."
)


def _each(causes: Sequence[str]) -> str:
    """The different causes of recompiles; empty if none is known."""
    different = list(dict.fromkeys(cause or "unknown" for cause in causes)) if any(causes) else []
    more = len(different) - _CAUSES
    shown = different if more <= 0 else [*different[:_CAUSES], f"{more} more"]
    return "; ".join(shown)


_CAUSES = 3
"""How many causes of recompiles of one function are listed."""


def _bypasses(
    variant: VariantReport, spent: Mapping[str, CompileSeconds], counted: set[str]
) -> Iterator[LostTime]:
    reasons: dict[tuple[str, str], list[str]] = {}
    for compilation in variant.compilations:
        bypasses = (event for event in compilation.cache if event.outcome == "bypass")
        # Of several caches the first: Inductor runs once, whichever of them were bypassed.
        first = next(bypasses, None)
        if first is not None and compilation.id not in counted:
            reasons.setdefault((first.cache, first.detail), []).append(compilation.id)
    for (cache, reason), ids in reasons.items():
        seconds = sum(spent.get(compile_id, CompileSeconds()).inductor_s for compile_id in ids)
        if seconds:
            yield LostTime(
                kind="cache bypass",
                seconds=seconds,
                what=f"the {cache} cache was bypassed: {reason.partition(chr(10))[0]}",
                process=variant.name,
                compilations=ids,
            )
