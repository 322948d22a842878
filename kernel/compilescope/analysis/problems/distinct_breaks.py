"""The distinct graph breaks of a variant: how often, at what cost, between which graphs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from ...report import Break, Compilation, DistinctBreak, Report, VariantReport
from ...report.break_advice import (
    advice_lines,
    calls_backward,
    code_against,
    is_at_step,
    is_by_design,
    is_step,
    wrapped_step,
)
from ...report.resumed import plain_function, resumed_at
from .breaks import break_key, line_of, skips_frame

_Key = tuple[str, str, int]
"""Equal for two occurrences of a break; see `break_key`."""


def distinct_breaks(compilations: Sequence[Compilation]) -> list[DistinctBreak]:
    """Collect the breaks, `most_wasteful_first`; also sets where each resumed (`Break.resumed`).

    Parameters
    ----------
    compilations
        A variant's, in torch's order. Their breaks are changed in place.

    Notes
    -----
    A break counts once for each compilation that hit it. Its cost is the compile time of the
    attempts that it ended. The code after it is compiled without the break too, so that time is
    kept apart; one without a graph still counts there. Recompiles count in neither. Only
    compilations with a graph are named before and after a break.
    """
    order = _Order(compilations)
    distinct: dict[_Key, _Collected] = {}
    for index, compilation in enumerate(compilations):
        for graph_break in compilation.breaks:
            resumed = next(order.after(graph_break, index), None)
            graph_break.resumed = resumed.id if resumed is not None else ""
            key = break_key(graph_break)
            if key in distinct:
                distinct[key].whole.count += 1
            else:
                distinct[key] = _Collected(DistinctBreak(cause=graph_break))
            distinct[key].add(graph_break, compilation, order.after(graph_break, index))
            is_whole = skips_frame(graph_break, compilation.frame)
            steps = list(order.steps(graph_break, index))
            if steps:
                distinct[key].add_steps(graph_break, steps)
            elif graph_break.eager and (is_whole or not order.compiled_inside(graph_break, index)):
                distinct[key].eager[graph_break.eager] = None
    finished = [collected.finished() for collected in distinct.values()]
    _advise(finished)
    return most_wasteful_first(finished, compilations)


def _advise(breaks: Sequence[DistinctBreak]) -> None:
    has_backward = any(calls_backward(each.cause) for each in breaks)
    for each in breaks:
        each.advice = advice_lines(each.cause)
        each.intended = is_by_design(each.cause)
        each.code, each.place = code_against(each.cause, has_backward=has_backward)


def most_wasteful_first(
    breaks: Iterable[DistinctBreak], compilations: Sequence[Compilation]
) -> list[DistinctBreak]:
    """Sort breaks by the compile time that they waste, then as they first occurred.

    Those to leave alone (`DistinctBreak.intended`) are last.
    """
    keys = [break_key(each) for compilation in compilations for each in compilation.breaks]
    first = {key: position for position, key in reversed(list(enumerate(keys)))}
    return sorted(
        breaks,
        key=lambda each: (
            each.intended,
            -(each.wasted_us or 0.0),
            -each.count,
            first.get(break_key(each.cause), len(keys)),
        ),
    )


def complete_breaks(variant: VariantReport) -> None:
    """Fill `VariantReport.breaks` from the compilations, or complete what an earlier file has."""
    if variant.breaks:
        _complete_times(variant)
        _advise(variant.breaks)
        variant.breaks = most_wasteful_first(variant.breaks, variant.compilations)
    elif any(compilation.breaks for compilation in variant.compilations):
        variant.breaks = distinct_breaks(variant.compilations)


def share_break_costs(report: Report) -> None:
    """Give a break the same cost in all variants: the least that was measured (`wasted_us`).

    The first variant's attempts also load what torch needs later, which no break wastes.
    """
    least: dict[_Key, float] = {}
    for variant in report.variants:
        for graph_break in variant.breaks:
            if graph_break.wasted_us:
                key = break_key(graph_break.cause)
                least[key] = min(graph_break.wasted_us, least.get(key, graph_break.wasted_us))
    for variant in report.variants:
        for graph_break in variant.breaks:
            if graph_break.wasted_us:
                graph_break.wasted_us = least[break_key(graph_break.cause)]
        variant.breaks = most_wasteful_first(variant.breaks, variant.compilations)


def _complete_times(variant: VariantReport) -> None:
    """Compute the compile times, which an earlier file lacks or defines differently."""
    if all(graph_break.after_us is not None for graph_break in variant.breaks):
        return
    by_key = {
        break_key(computed.cause): computed for computed in distinct_breaks(variant.compilations)
    }
    for graph_break in variant.breaks:
        computed = by_key.get(break_key(graph_break.cause))
        if computed is not None:
            graph_break.wasted_us, graph_break.after_us = computed.wasted_us, computed.after_us


class _Collected:
    """What is known of a break so far. Sets, since a trace may have thousands of compilations."""

    def __init__(self, whole: DistinctBreak) -> None:
        self.whole = whole
        self.eager: dict[str, None] = {}
        self._before: dict[str, None] = {}
        self._after: dict[str, Compilation] = {}
        self._steps: dict[str, None] = {}

    def add(
        self, graph_break: Break, compilation: Compilation, after: Iterable[Compilation]
    ) -> None:
        """Add an occurrence and what was compiled after it."""
        if _has_graph(compilation):
            self._before[compilation.id] = None
        if compilation.recompile is None:
            self.whole.wasted_us = _sum(self.whole.wasted_us, graph_break.duration_us)
        for resumed in after:
            if resumed.id in self._after:
                break  # it and all that follow were added with an earlier occurrence
            self._after[resumed.id] = resumed
            if resumed.recompile is None and resumed.duration_s is not None:
                self.whole.after_us = _sum(self.whole.after_us, resumed.duration_s * 1e6)

    def add_steps(self, graph_break: Break, steps: Iterable[Compilation]) -> None:
        """Add the optimizer's step, compiled on its own: only its wrapper runs in eager."""
        self._steps.update((compilation.id, None) for compilation in steps)
        where, step = graph_break.where, wrapped_step(graph_break)
        if step:
            self.eager[f"the wrapper of {step}"] = None
        else:
            self.eager[where.function if where is not None else graph_break.eager] = None

    def finished(self) -> DistinctBreak:
        """The break with all its occurrences."""
        self.whole.before = list(self._before)
        resumed = [each for each, compilation in self._after.items() if _has_graph(compilation)]
        self.whole.after = list(dict.fromkeys([*self._steps, *resumed]))
        self.whole.eager = list(self.eager)
        return self.whole


class _Order:
    """Finds what was compiled after a break without looking through all compilations."""

    def __init__(self, compilations: Sequence[Compilation]) -> None:
        self._compilations = compilations
        self._resuming: dict[tuple[str, str, int], list[int]] = {}
        """File, function and line → the positions of the frames that resume it there."""
        self._breaking: dict[tuple[str, str, _Key], int] = {}
        """File, function and break → the position of the last frame that hits it."""
        for index, compilation in enumerate(compilations):
            frame = compilation.frame
            if frame is None:
                continue
            line = resumed_at(frame.function)
            if line is not None:
                place = (frame.file, plain_function(frame.function), line)
                self._resuming.setdefault(place, []).append(index)
            for graph_break in compilation.breaks:
                self._breaking[frame.file, frame.function, break_key(graph_break)] = index

    def after(self, graph_break: Break, index: int) -> Iterator[Compilation]:
        """Yield the compilations after a break: the frames that resume its function there."""
        frame = self._compilations[index].frame
        place = line_of(graph_break, frame)
        if place is None or frame is None:
            return
        name = plain_function(frame.function)
        positions = self._resuming.get((frame.file, name, place.line), [])
        for number in range(bisect_right(positions, index), len(positions)):
            yield self._compilations[positions[number]]

    def steps(self, graph_break: Break, index: int) -> Iterator[Compilation]:
        """Yield the graphs of an optimizer's step that torch compiled for the call at a break."""
        if not is_at_step(graph_break):
            return
        resumed = next(self.after(graph_break, index), None)
        for compilation in islice(self._compilations, index + 1, None):
            if compilation is resumed:
                return
            if _has_graph(compilation) and is_step(compilation.frame):
                yield compilation

    def compiled_inside(self, graph_break: Break, index: int) -> bool:
        """Whether the called function that contains the break was then compiled separately.

        That compilation then names the code in eager, which is less than the whole call.
        """
        where = graph_break.where
        if where is None or line_of(graph_break, self._compilations[index].frame) == where:
            return False
        key = break_key(graph_break)
        return self._breaking.get((where.file, where.function, key), -1) > index


def _sum(total: float | None, more: float | None) -> float | None:
    """The sum of two times; None if both are unknown."""
    return total if more is None else (total or 0.0) + more


def _has_graph(compilation: Compilation) -> bool:
    return "dynamo" in compilation.graphs or compilation.counts.get("graphs", 0) > 0
