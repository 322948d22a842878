"""Ranks the cells of a sweep, with pure functions of the measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..analysis.overview.sweep_status import add_sweep_words
from ..analysis.overview.sweep_verdicts import is_candidate, latency_us
from ..report.measurements.sweeps import Sweep, SweepCell


def rank(sweep: Sweep) -> None:
    """Fills in a sweep's winners, its Pareto set and what it says in words."""
    shapes = list(dict.fromkeys(cell.shape for cell in sweep.cells))
    sweep.winners = {
        shape: best.key
        for shape in shapes
        if (best := winner([cell for cell in sweep.cells if cell.shape == shape])) is not None
    }
    overall = overall_winner(sweep.cells)
    sweep.winner = overall.key if overall is not None else ""
    sweep.pareto = [
        key
        for shape in shapes
        for key in pareto([cell for cell in sweep.cells if cell.shape == shape])
    ]
    add_sweep_words(sweep)


def winner(cells: Sequence[SweepCell]) -> SweepCell | None:
    """The fastest of the cells that count; of several, the first."""
    return min(filter(is_candidate, cells), key=latency_us, default=None)


def overall_winner(cells: Sequence[SweepCell]) -> SweepCell | None:
    """The first cell of the variant that is fastest over all shapes.

    By the geometric mean of how much slower than the best of its shape it is, so that a shape that
    takes long counts no more than others. A variant that counts on fewer shapes than another cannot
    win.
    """
    best: dict[str, float] = {}
    by_variant: dict[str, list[SweepCell]] = {}
    for cell in filter(is_candidate, cells):
        best[cell.shape] = min(best.get(cell.shape, math.inf), latency_us(cell))
        by_variant.setdefault(cell.name, []).append(cell)
    most = max(map(len, by_variant.values()), default=0)
    candidates = [
        cells_of_variant
        for cells_of_variant in by_variant.values()
        if len(cells_of_variant) == most
    ]
    slower = [
        _mean([latency_us(sweep_cell) / best[sweep_cell.shape] for sweep_cell in candidate])
        for candidate in candidates
    ]
    return candidates[slower.index(min(slower))][0] if candidates else None


def pareto(cells: Sequence[SweepCell]) -> list[str]:
    """The keys of the cells that no other beats in both compile time and latency.

    Beaten is what another is no worse than in both and better than in one.
    """
    candidates = list(filter(is_candidate, cells))
    return [
        candidate.key
        for candidate in candidates
        if not any(_beats(other, candidate) for other in candidates if other is not candidate)
    ]


def compile_s(cell: SweepCell) -> float:
    """A first call's time; eager has none."""
    return cell.compile_time.total_s if cell.compile_time is not None else 0.0


def _beats(cell: SweepCell, other: SweepCell) -> bool:
    latencies = latency_us(cell), latency_us(other)
    times = compile_s(cell), compile_s(other)
    no_worse = latencies[0] <= latencies[1] and times[0] <= times[1]
    return no_worse and (latencies[0] < latencies[1] or times[0] < times[1])


def _mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))
