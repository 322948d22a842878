"""The effects of settings on the first call, as rows of words."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import ColdSwitch, Report, VariantReport
from .. import wording
from .table import Column, Table

TABLE = Table(
    "cold",
    (
        Column("setting", "setting"),
        Column("cold", "cold caches", "First call with empty caches, and the difference", "figure"),
        Column("cold_parts", "parts with cold caches", kind="drawing", where="panel"),
        Column("warm", "warm caches", "First call with warm caches, and the difference", "figure"),
        Column("warm_parts", "parts with warm caches", kind="drawing", where="panel"),
        Column("call", "later calls", "Median latency after the first call", "figure"),
        Column("change", "what it changes", where="panel"),
    ),
)


def studied(report: Report) -> Iterator[VariantReport]:
    """Yield the variants whose first calls were measured setting by setting."""
    yield from (variant for variant in report.variants if variant.cold)


def headline(variant: VariantReport) -> str:
    """Return the title of the rows, and the settings that help most."""
    return f"{variant.name}: effect of settings on the first call. {variant.cold_gain}".rstrip()


def rows(variant: VariantReport) -> list[tuple[str, ...]]:
    """Return the settings that were measured, in the order of `TABLE`."""
    return [
        TABLE.row(
            setting=row.label,
            cold=_time(_us(row.cold_s), _us(row.cold_more_s)),
            warm=_time(_us(row.warm_s), _us(row.warm_more_s)),
            call=_time(row.call_us, row.call_more_us),
        )
        for row in variant.cold
        if row.cold_s is not None or row.warm_s is not None
    ]


def remarks(variant: VariantReport) -> list[str]:
    """Return a line for each setting that was not measured, and how the others were."""
    unmeasured = [f"{row.label}: {reason}" for row in variant.cold if (reason := _unmeasured(row))]
    return [*unmeasured, variant.cold[0].how]


def _unmeasured(row: ColdSwitch) -> str:
    """Why a setting was not measured; empty if it was."""
    if row.problem is not None:
        return row.problem.what
    if row.cold_s is not None:
        return ""
    return row.why or ("not measured" if row.warm_s is None else "")


def _us(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6


def _time(us: float | None, more_us: float | None) -> str:
    """A time, and how much more it is than with the current settings where that is known."""
    if us is None:
        return ""
    time = wording.duration(us)
    if not more_us:
        return time
    sign = "+" if more_us > 0 else "\u2212"
    return f"{time} ({sign}{wording.duration(abs(more_us))})"
