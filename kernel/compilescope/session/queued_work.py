"""The work of a queued job: its variants, its duration, and similar earlier jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ..inspection import variants as names
from ..inspection.inspection import Inspection
from ..jobs.jobs import Job
from ..jobs.runner import Kind, usual
from ..report import Report, VariantReport, is_record
from ..report.errors import CompilescopeError
from ..report.variant import Variant
from ..studies.options import Selected
from ..studies.run import check_selected_names

MAX_SECONDS = 7 * 24 * 3600.0
"""The longest measurement that can be requested."""


def check_seconds(seconds: float) -> None:
    """Refuse a measurement that cannot end.

    Raises
    ------
    CompilescopeError
        It would take no time, or more than a week.
    """
    if not 0 < seconds <= MAX_SECONDS:
        raise CompilescopeError(
            f"A measurement cannot take {seconds:g} seconds.",
            f"It takes more than 0 and at most {MAX_SECONDS:g}, which is a week.",
            "Give the seconds to measure for: 10.",
        )


def refuse_records(report: Report, variants: Sequence[str]) -> None:
    """Refuse variants that hold what the user's own code compiled.

    Raises
    ------
    CompilescopeError
        One of them does.
    """
    for name in variants:
        if is_record(report.variant(name)):
            raise CompilescopeError(
                f"{name!r} cannot be built or timed.",
                "It holds what your own code compiled as it ran: there is no call to repeat.",
                "Choose another variant.",
            )


def requested_variants(
    inspection: Inspection, variants: Sequence[str], kind: Kind
) -> dict[str, Variant]:
    """Return the variants that work is done on, by name.

    Parameters
    ----------
    variants
        Their names; empty for the usual ones. If an inspection was interrupted, its missing
        variants are requested again.
    kind
        The kind of work.

    Raises
    ------
    CompilescopeError
        A variant does not exist, or there is no call to repeat for it.
    """
    refuse_records(inspection.report, variants)
    chosen = list(variants) or list(usual(inspection, kind))
    requested = {name: inspection.report.variant(name).requested for name in chosen}
    if not variants:
        present = [
            variant.requested for variant in inspection.report.variants if not is_record(variant)
        ]
        requested_last = inspection.requested or names.parse(names.USUAL)
        missing = {
            name: variant for name, variant in requested_last.items() if variant not in present
        }
        if kind == "build" or not requested:
            requested |= missing
    return requested


def check_options(
    inspection: Inspection,
    studies: Sequence[str],
    options: Selected,
    requested: Mapping[str, Variant],
) -> None:
    """Check what is selected with the options of studies.

    Raises
    ------
    CompilescopeError
        An option does not belong to the studies, or takes no such name for these variants.
    """
    known = {variant.name: variant for variant in inspection.report.variants}
    reports = [
        known.get(name) or VariantReport(name=name, requested=variant)
        for name, variant in requested.items()
    ]
    check_selected_names(
        studies,
        options,
        lambda option: (
            choice.name for report in reports for choice in inspection.choices(option, report)
        ),
    )


def kind_of(job: Job, inspection: Inspection, *, is_first: bool) -> str:
    """Return a key shared by jobs of similar duration: the work, the variants, the size.

    Also the processor, the threads and torch.

    Parameters
    ----------
    is_first
        Whether it is the first build of the process, which takes longer.
    """
    report = inspection.report
    stages = {variant.name: variant.stage for variant in report.variants}
    requested = {variant.name: variant.requested for variant in report.variants}
    requested |= {**inspection.requested, **job.requested}
    variants = sorted(
        f"{names.name_of(requested[name])} {stages.get(name, 'new')}"
        for name in job.variants
        if name in requested
    )
    place = report.environment
    # What is broken down already is not broken down again.
    is_divided = any(variant.layers for variant in report.variants if variant.name in job.variants)
    # An executor counts by its kind, a factory alike.
    work = msgspec.json.encode(job.work, enc_hook=lambda value: type(value).__name__).decode()
    size = f"size 2^{inspection.size.bit_length()}"
    parts = [work, *variants, size, "first" * is_first, "divided" * is_divided]
    parts += [place.cpu, *place.gpus]
    return " | ".join([*filter(None, parts), f"{place.threads} threads", place.torch])
