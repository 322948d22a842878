"""The effects of settings on the first call, as rows of words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...report import Report, VariantReport
from .. import wording

HEAD = ("setting", "cold caches", "more", "warm caches", "more", "later calls", "more")


def studied(report: Report) -> Iterator[VariantReport]:
    """Yield the variants whose first calls were measured setting by setting."""
    yield from (variant for variant in report.variants if variant.cold)


def headline(variant: VariantReport) -> str:
    """Return the title of the rows, and the settings that help most."""
    return f"{variant.name}: what settings change in the first call. {variant.cold_gain}".rstrip()


def rows(variant: VariantReport) -> list[tuple[str, ...]]:
    """Return the settings that were measured, in the order of `HEAD`."""
    return [
        (
            row.label,
            _seconds(row.cold_s),
            _more(row.cold_more_s, _seconds),
            _seconds(row.warm_s),
            _more(row.warm_more_s, _seconds),
            "" if row.call_us is None else wording.duration(row.call_us),
            _more(row.call_more_us, wording.duration),
        )
        for row in variant.cold
        if row.cold_s is not None or row.warm_s is not None
    ]


def remarks(variant: VariantReport) -> list[str]:
    """Return a line for each setting that was not measured, and how the others were."""
    unmeasured = [
        f"{row.label}: {row.problem.what if row.problem is not None else row.why}"
        for row in variant.cold
        if row.cold_s is None or row.problem is not None
    ]
    return [*unmeasured, variant.cold[0].how]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s"


def _more(value: float | None, wording_of: Callable[[float], str]) -> str:
    if not value:
        return ""
    return f"{'+' if value > 0 else '-'}{wording_of(abs(value))}"
