"""Requests for a report after its inspection: to measure or to study its variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..inspection import variants as names
from ..inspection.automatic_layers import BREAKDOWN, plan_breakdown
from ..inspection.inspection import Inspection
from ..jobs.runner import Kind, usual
from ..progress.progress import Progress
from ..report import Report
from ..report.argument_checks import check_number, check_report, check_text
from ..report.errors import CompilescopeError, code_to_paste
from ..report.problem import first_error
from ..report.variant import Variant
from ..studies.context import HERE, StudyProcesses
from ..studies.options import names_of
from ..studies.table import usual as usual_studies
from .queued_work import refuse_records
from .session import Session

ProgressCallback = Callable[[Progress], None]


def measure(
    session: Session,
    report: Report,
    *,
    variants: object = None,
    seconds: float = 10.0,
    breakdown: bool = False,
    progress: ProgressCallback | None = None,
) -> Report:
    """Measures variants of a report interleaved with eager; see `Session.measure`.

    Raises
    ------
    CompilescopeError
        The report is not from this kernel, a variant does not exist, the time is invalid, or none
        of the variants could be built.
    """
    names = _measure(session, report, variants, seconds, breakdown, progress)
    _check_built(report, names, "measured")
    return report


def _measure(
    session: Session,
    report: Report,
    variants: object,
    seconds: float,
    breakdown: bool,
    progress: ProgressCallback | None,
) -> list[str]:
    """Measures variants, and returns their names."""
    check_number("seconds", seconds, "the seconds to measure for: 10")
    inspection = inspection_of(session, report)
    requested = _requested(inspection, variants, "measure")
    session.measure(
        report.subject.id, requested, seconds=seconds, breakdown=breakdown, progress=progress
    )
    return list(requested)


def study(
    session: Session,
    report: Report,
    studies: Sequence[str],
    *,
    variants: object = None,
    options: Mapping[str, object] | None = None,
    processes: StudyProcesses = HERE,
    progress: ProgressCallback | None = None,
) -> Report:
    """Runs studies of variants of a report; all but the longest studies if none is named.

    Parameters
    ----------
    options
        Name of an option → what it selects; None: all.
    processes
        Of studies with a choice of them.

    Raises
    ------
    CompilescopeError
        The report is not from this kernel; a study, variant or selected name does not exist; the
        executor or factory is none, or no study takes it; or none of the variants could be built.
    """
    names = _study(session, report, studies, variants, options, progress, processes)
    _check_built(report, names, "studied")
    return report


def _check_built(report: Report, names: Sequence[str], done: str) -> None:
    """Checks that at least one of the variants was built, or is eager.

    Raises
    ------
    CompilescopeError
        Building each of them failed; the message has the first error.
    """
    requested = [variant for variant in report.variants if variant.name in names]
    if not requested or any(variant.stage != "failed" for variant in requested):
        return
    problems = [problem for variant in requested for problem in variant.problems]
    first = first_error(problems)
    raise CompilescopeError(
        f"Nothing was {done}: {', '.join(names)} could not be built.",
        f"{first.what} {first.why}".rstrip(" .") + "." if first is not None else "",
        first.remedy if first is not None else "",
    )


def _study(
    session: Session,
    report: Report,
    studies: Sequence[str],
    variants: object,
    options: Mapping[str, object] | None,
    progress: ProgressCallback | None,
    processes: StudyProcesses = HERE,
) -> list[str]:
    """Runs studies of variants, and returns the names of the variants."""
    inspection = inspection_of(session, report)
    for name in studies:
        check_text("A study", name, "the study's name")
    selected = {
        name: names_of(name, value) for name, value in (options or {}).items() if value is not None
    }
    requested = _requested(inspection, variants, "study")
    if not studies:
        studies = usual_studies(
            targets=(variant.target is not None for variant in requested.values())
        )
    session.study(
        report.subject.id,
        studies,
        requested,
        options=selected,
        processes=processes,
        progress=progress,
    )
    return list(requested)


def measure_and_study(
    session: Session,
    report: Report,
    seconds: float | None,
    studies: Sequence[str],
    *,
    options: Mapping[str, object] | None = None,
    processes: StudyProcesses = HERE,
    breakdown: bool = True,
    progress: ProgressCallback | None = None,
) -> None:
    """Measures and studies a report's variants, as requested.

    Parameters
    ----------
    options
        What is selected with the options of the studies.
    processes
        Of studies with a choice of them.
    breakdown
        Whether to break down the time of a call if no study is named and it takes only seconds.
    """
    if seconds is not None:
        _measure(session, report, None, seconds, False, progress)
    if studies:
        _study(session, report, studies, None, options, progress, processes)
    elif breakdown and (
        plan := plan_breakdown(
            report,
            [variant.name for variant in report.variants],
            lambda variant: inspection_of(session, report).results.changed(variant),
        )
    ):
        requested = {plan.variant: report.variant(plan.variant).requested}
        session.study(
            report.subject.id, BREAKDOWN, requested, existing=plan.existing, progress=progress
        )


def inspection_of(session: Session, report: Report) -> Inspection:
    """The inspection that made a report.

    Raises
    ------
    CompilescopeError
        It is not in this kernel.
    """
    check_report(report)
    inspection = session.inspections.get(report.subject.id)
    if isinstance(inspection, Inspection) and inspection.report is report:
        return inspection
    if report.subject.kind in ("watch", "trace"):
        raise CompilescopeError(
            "This report has no call of its own.",
            "It shows what your own code compiled.",
            f"Inspect a call:{code_to_paste('report = compilescope.inspect(fn, args)')}",
        )
    if report.rank is not None:
        raise CompilescopeError(
            "The call of this report is not in the kernel.",
            "It ran in the process of a rank, which has ended.",
            "Call compilescope.ranks(factory) again: it builds and times the variants again.",
        )
    raise CompilescopeError(
        "The call of this report is not in the kernel.",
        "It was loaded from a file, its cell ran again, or it was forgotten.",
        "Inspect the call again, and use the new report.",
    )


def _requested(inspection: Inspection, variants: object, kind: Kind) -> dict[str, Variant]:
    """The variants by name; variants of the report keep their names."""
    if variants is None:
        requested = {variant.name: variant.requested for variant in inspection.report.variants}
        # If all are for targets, the caller raises an error that says what is not possible.
        aims = {name: variant for name, variant in requested.items() if variant.target is not None}
        # What could not be built is tried again: no other variant was requested.
        failed = {
            variant.name: variant.requested
            for variant in inspection.report.variants
            if variant.stage == "failed" and variant.requested.backend
        }
        return usual(inspection, kind) or aims or failed or names.parse(names.USUAL)
    present = {variant.name: variant.requested for variant in inspection.report.variants}
    if isinstance(variants, (str, Variant)):
        variants = [variants]
    elif isinstance(variants, Iterable) and not isinstance(variants, Mapping):
        variants = list(variants)  # a generator can be read only once
    if isinstance(variants, list) and variants:
        chosen = [name for name in variants if isinstance(name, str) and name in present]
        if len(chosen) == len(variants):
            refuse_records(inspection.report, chosen)
            return {name: present[name] for name in chosen}
    parsed = names.parse(variants)
    return {names.name_in(inspection.report, variant): variant for variant in parsed.values()}
