"""The table of variants: requested settings, stage, times and accuracy."""

from __future__ import annotations

from ...analysis.figures.stages import stage_words
from ...analysis.target.estimate_words import estimated
from ...report import Report, VariantReport
from .. import wording
from ..wrapper_pairs import compared
from .table import Column, Table

TABLE = Table(
    "variants",
    (
        Column("variant", "variant"),
        Column("switches", "switches", where="text"),
        Column("stage", "stage", where="text"),
        Column("median", "median", "Median time of a call", "figure"),
        Column("interval", "95 % interval", "Of the median", "figure"),
        Column("estimated", "est. time", "Lower bound for the time of its kernels"),
        Column("speedup", "over eager", "From the rounds that timed both"),
        Column(
            "host",
            "host",
            "Until the call returns; its kernels may still run",
            "figure",
            "panel",
        ),
        Column(
            "device",
            "device",
            "Between two events of the stream around the call",
            "figure",
            "panel",
        ),
        Column("samples", "samples", kind="figure", where="panel"),
        Column(
            "calls",
            "calls per sample",
            "Calls that are timed together as one sample",
            "figure",
            "panel",
        ),
        Column("warmup", "warm-up calls", "Calls before the first sample", "figure", "panel"),
        Column("compile", "first call", kind="figure"),
        Column("accurate", "outputs", "Whether they agree with eager's"),
    ),
)
"""The panel shows the times in the view of timings, and some of the columns in the sidebar."""

_RESULTS = frozenset(("median", "interval", "speedup"))
"""What a cell shows in the table of results."""


def rows(report: Report) -> list[tuple[str, ...]]:
    """Return the variants in the order of `TABLE`."""
    return [_row(report, variant) for variant in compared(report)]


def beside_results(report: Report) -> tuple[list[Column], list[tuple[str, ...]]]:
    """Return the columns that the table of results lacks, and their rows."""
    places = [at for at, column in enumerate(TABLE.shown) if column.id not in _RESULTS]
    return (
        [TABLE.shown[at] for at in places],
        [tuple(row[at] for at in places) for row in rows(report)],
    )


def _row(report: Report, variant: VariantReport) -> tuple[str, ...]:
    timing = variant.timing
    return TABLE.row(
        variant=variant.name,
        switches=wording.settings(report, variant),
        stage=stage_words(variant),
        median="" if timing is None else wording.duration(timing.median_us),
        interval="" if timing is None else timing.interval,
        estimated="" if variant.target is None else estimated(variant.target),
        speedup=_speedup(variant),
        compile=wording.seconds(variant),
        accurate=wording.accuracy(variant),
    )


def _speedup(variant: VariantReport) -> str:
    if variant.timing is None or variant.requested.backend is None:
        return ""
    return wording.speedup(variant.timing)
