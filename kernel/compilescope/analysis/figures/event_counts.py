"""The counts of a variant's recompiles and graph breaks, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...report import Compilation, Count, DistinctBreak, Report, VariantReport, is_record
from .counts import (
    always_recompiles,
    break_count,
    first_recompiles,
    recompile_count,
    recompile_remedy,
)
from .wording import count


def cell_record(report: Report) -> VariantReport | None:
    """What the cell compiled as it ran, besides the inspected call."""
    return next((variant for variant in report.variants if is_record(variant)), None)


def recompiles(compilations: Iterable[Compilation]) -> Count:
    """The recompiles among some compilations."""
    number = recompile_count(compilations)
    return Count(
        number=number, text=count(number, "recompile"), view="recompiles", warning=number > 0
    )


def breaks(distinct: Sequence[DistinctBreak]) -> Count:
    """Some graph breaks, and how many of them there is nothing to do about."""
    intended = sum(graph_break.intended for graph_break in distinct)
    which = "" if intended == len(distinct) else f"{intended} "
    return Count(
        number=len(distinct),
        text=break_count(distinct) + (f", {which}intended by torch" if intended else ""),
        view="breaks",
        warning=intended < len(distinct),
    )


def variant_recompiles(report: Report, variant: VariantReport) -> Count:
    """The recompiles of a variant; if its call has none, those of later calls or of the cell."""
    own = recompiles(variant.compilations)
    if own.number or is_record(variant):
        return own
    # The inspected call recompiles nothing; those after it may, as the cell's own may have.
    if changed := always_recompiles(variant):
        own.number, own.text, own.warning = 1, "1 recompile in every call", True
        own.why = (
            f"The call changes {changed}, which a guard checks. The inspected call compiled "
            "once; those after it recompile, up to torch's limit, then run in eager."
        )
        own.causes = variant.timing.recompile_causes if variant.timing is not None else []
        own.remedy = f"{recompile_remedy(variant)}."
        return own
    record = cell_record(report)
    if record is not None and (cell := recompiles(record.compilations)).number:
        return _in_cell(cell, record)
    if values := first_recompiles(variant):
        own.number, own.warning = len(values), True
        where = "the second call" if len(values) == 1 else f"calls 2 to {len(values) + 1}"
        own.text = f"{count(len(values), 'recompile')} in {where}"
        earlier = "The first call changes" if len(values) == 1 else "The calls before them change"
        changed = ", ".join(dict.fromkeys(values))
        own.why = f"{earlier} {changed}, which a guard checks. Later calls do not recompile."
    return own


def variant_breaks(report: Report, variant: VariantReport) -> Count:
    """The graph breaks of a variant, or of the cell if that has more than its call."""
    own = breaks(variant.breaks)
    record = None if is_record(variant) else cell_record(report)
    if record is None or len(record.breaks) <= own.number:
        return own
    return _in_cell(breaks(record.breaks), record)


def _in_cell(counted: Count, record: VariantReport) -> Count:
    counted.text, counted.of = f"{counted.text} in the cell", record.name
    return counted
