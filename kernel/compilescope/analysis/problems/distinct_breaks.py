"""The distinct graph breaks of a variant: how often, at what cost, between which graphs."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import Break, Compilation, DistinctBreak, VariantReport
from .breaks import break_key, line_of, plain_function, resumed_at


def distinct_breaks(compilations: Sequence[Compilation]) -> list[DistinctBreak]:
    """Collect the breaks; also sets where each was resumed (`Break.resumed`).

    Parameters
    ----------
    compilations
        A variant's, in torch's order. Their breaks are changed in place.

    Notes
    -----
    A break counts once for each compilation that hit it. Its cost is the compile time of the
    attempts that it ended and of the code compiled after it. Only compilations with a graph are
    named before and after it; one without a graph still counts as cost.
    """
    distinct: dict[tuple[str, str, int], DistinctBreak] = {}
    paid: dict[tuple[str, str, int], set[str]] = {}
    for index, compilation in enumerate(compilations):
        for graph_break in compilation.breaks:
            after = _after(graph_break, compilation, compilations[index + 1 :])
            graph_break.resumed = after[0].id if after else ""
            key = break_key(graph_break)
            if key in distinct:
                distinct[key].count += 1
            else:
                distinct[key] = DistinctBreak(cause=graph_break)
            _add(distinct[key], graph_break, compilation, after, paid.setdefault(key, set()))
            if graph_break.eager and not _compiled_inside(
                graph_break, compilation, compilations[index + 1 :]
            ):
                _append(distinct[key].eager, graph_break.eager)
    return list(distinct.values())


def add_breaks(variant: VariantReport) -> None:
    """Fill `VariantReport.breaks` from the compilations."""
    variant.breaks = distinct_breaks(variant.compilations)


def _add(
    whole: DistinctBreak,
    graph_break: Break,
    compilation: Compilation,
    after: Sequence[Compilation],
    paid: set[str],
) -> None:
    if _has_graph(compilation):
        _append(whole.before, compilation.id)
    costs = [graph_break.duration_us]
    for resumed in after:
        if _has_graph(resumed):
            _append(whole.after, resumed.id)
        if resumed.id not in paid:
            paid.add(resumed.id)
            costs.append(None if resumed.duration_s is None else resumed.duration_s * 1e6)
    estimated = [cost for cost in costs if cost is not None]
    if estimated:
        whole.cost_us = (whole.cost_us or 0.0) + sum(estimated)


def _has_graph(compilation: Compilation) -> bool:
    return "dynamo" in compilation.graphs or compilation.counts.get("graphs", 0) > 0


def _after(
    graph_break: Break, compilation: Compilation, later: Sequence[Compilation]
) -> list[Compilation]:
    """The compilations after a break: the frames that resume its function there."""
    place, frame = line_of(graph_break, compilation.frame), compilation.frame
    if place is None or frame is None:
        return []
    name = plain_function(frame.function)
    return [
        other
        for other in later
        if other.frame is not None
        and other.frame.file == frame.file
        and plain_function(other.frame.function) == name
        and resumed_at(other.frame.function) == place.line
    ]


def _compiled_inside(
    graph_break: Break, compilation: Compilation, later: Sequence[Compilation]
) -> bool:
    """Whether the called function that contains the break was then compiled separately.

    That compilation then names the code in eager, which is less than the whole call.
    """
    if graph_break.where is None or line_of(graph_break, compilation.frame) == graph_break.where:
        return False
    return any(
        other.frame is not None
        and (other.frame.file, other.frame.function)
        == (graph_break.where.file, graph_break.where.function)
        and any(break_key(graph_break) == break_key(again) for again in other.breaks)
        for other in later
    )


def _append(texts: list[str], text: str) -> None:
    if text not in texts:
        texts.append(text)
