"""A sweep as rows of words and figures, the same in HTML and in a terminal."""

from __future__ import annotations

from ...report import Sweep, SweepCell
from ...report.measurements.sweeps import STATE_WORDS
from ...report.units import quantity
from .. import wording
from .table import Column, Table

_RANKING_WORDS = {"fastest": "lowest median", "pareto": "Pareto-optimal"}
"""What a measured cell is besides."""

TABLE = Table(
    "cells",
    (
        Column("variant", "variant"),
        Column("shape", "shape"),
        Column("state", "state", "State, and where it is best", words=STATE_WORDS | _RANKING_WORDS),
        Column("latency", "latency", "The median time of a call", "figure"),
        Column("interval", "95 % interval", "Of the median", "figure", "panel"),
        Column("speedup", "over eager", "Against eager, as far as the interval allows"),
        Column(
            "compile",
            "first call",
            "Compile time: the first call in a new process with empty caches",
            "figure",
        ),
        Column("throughput", "throughput", "Items of the batch per second", "figure"),
        Column(
            "memory",
            "memory",
            "Peak memory of a call above what was allocated before",
            "figure",
        ),
        Column(
            "accuracy", "results", "Whether they agree with eager's, and their largest difference"
        ),
        Column("effective", "not as requested", "Settings that torch did not apply as requested"),
        Column("why", "why", where="text"),
    ),
)


def rows(sweep: Sweep) -> list[tuple[str, ...]]:
    """Each cell in the order of `TABLE`, by shape and then the fastest first."""
    order = {name: at for at, name in enumerate(sweep.shapes)}
    cells = sorted(
        sweep.cells,
        key=lambda cell: (
            order.get(cell.shape, 0),
            cell.timing.median_us if cell.timing and cell.state == "done" else float("inf"),
        ),
    )
    return [_row(cell, sweep) for cell in cells]


def headline(sweep: Sweep) -> str:
    """How far the sweep is, or how it ended."""
    return " \u00b7 ".join(filter(None, (sweep.status, sweep.status_detail)))


def outcome(cell: SweepCell) -> str:
    """How one cell ended, in a line."""
    if cell.state != "done":
        why = f": {cell.problem.what}" if cell.problem is not None else ""
        return f"{cell.title}, {STATE_WORDS[cell.state]}{why}"
    figures = []
    if cell.timing is not None:
        figures.append(f"{wording.duration(cell.timing.median_us)} per call")
    if cell.compile_time is not None:
        figures.append(f"first call {wording.duration(cell.compile_time.total_s * 1e6)}")
    return f"{cell.title}, {', '.join(figures)}"


def verdicts(sweep: Sweep) -> list[str]:
    """Which cell is fastest, a sentence or two for each shape; empty if nothing was measured."""
    sentences = [
        f"{shape}: {verdict}" if len(sweep.verdicts) > 1 else verdict
        for shape, verdict in sweep.verdicts.items()
    ]
    if sweep.overall:
        sentences.append(sweep.overall)
    return sentences


def _row(cell: SweepCell, sweep: Sweep) -> tuple[str, ...]:
    timing, compiled = cell.timing, cell.compile_time
    ratio = wording.speedup(timing) if timing else ""
    speed = cell.throughput_per_s
    return TABLE.row(
        variant=cell.name,
        shape=cell.shape,
        state=_state(cell, sweep),
        latency=wording.duration(timing.median_us) if timing else "",
        speedup=ratio,
        compile=wording.duration(compiled.total_s * 1e6) if compiled is not None else "",
        throughput=quantity(speed, f"{sweep.unit}/s") if speed is not None else "",
        memory=wording.size(cell.memory_bytes) if cell.memory_bytes is not None else "",
        accuracy=cell.result,
        effective=", ".join(f"{setting.setting}: {setting.actual}" for setting in cell.effective),
        why=cell.problem.what if cell.problem is not None and cell.state != "done" else "",
    )


def _state(cell: SweepCell, sweep: Sweep) -> str:
    if cell.state != "done":
        return STATE_WORDS[cell.state]
    if cell.key == sweep.winner or cell.key in sweep.winners.values():
        return _RANKING_WORDS["fastest"]
    return _RANKING_WORDS["pareto"] if cell.key in sweep.pareto else STATE_WORDS["done"]
