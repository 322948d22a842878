"""The kinds of work on a subject's variants, and how they are carried out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Literal, NamedTuple

import msgspec

from ..inspection.automatic_layers import BREAKDOWN, plan_breakdown
from ..inspection.inspection import Inspection
from ..isolation.global_state import in_force
from ..isolation.thread_switching import generating, responsive
from ..progress.progress import Cancelled, Monitor
from ..report import is_record
from ..report.variant import Variant
from ..studies.context import HERE, StudyProcesses
from ..targets.whole_call import SentCall

Kind = Literal["build", "measure", "study", "reproduce"]


class Work(msgspec.Struct, kw_only=True, frozen=True):
    """What a job does. Equal work is done once."""

    kind: Kind = "build"
    build: bool = True
    """For the kind ``build``: whether to build, or only to generate the sources."""
    breakdown: bool = False
    """For building and measuring: whether to break down a call's time too, if that takes
    seconds."""
    seconds: float = 10.0
    """How long to measure (s)."""
    restart: bool = False
    """Starts over even if an earlier measurement could be resumed."""
    studies: tuple[str, ...] = ()
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """For the kind ``study``: what is selected with the options of the studies, each by name."""
    existing: bool = False
    """For the kind ``study``: whether existing builds may be called in place of new ones."""
    processes: StudyProcesses = HERE
    """For the kind ``study``: of studies with a choice of them."""
    compilation: str = ""
    """For the kind ``reproduce``: the compilation of the kernel or graph."""
    kernel: str = ""
    """For the kind ``reproduce``: the kernel's name, or empty."""
    graph: str = ""
    """For the kind ``reproduce``: the graph's stage, or empty."""
    minify: bool = False
    """For the kind ``reproduce``: whether a smaller graph that fails is looked for."""


def usual(inspection: Inspection, kind: Kind) -> dict[str, Variant]:
    """The variants of a report that work applies to if none is named."""
    variants = [variant for variant in inspection.report.variants if not is_record(variant)]
    if kind != "build":
        variants = [
            variant
            for variant in variants
            if variant.stage != "failed" and variant.requested.backend
        ]
    if kind == "measure":
        variants = [variant for variant in variants if variant.requested.target is None]
    if kind == "study":
        variants = [
            variant for variant in variants if variant.stage == "built" or variant.requested.target
        ] or variants
    return {variant.name: variant.requested for variant in variants}


def is_aside(requested: Mapping[str, Variant]) -> bool:
    """Whether work on these variants calls no user code: all are for targets."""
    return all(variant.target is not None for variant in requested.values())


def carry_out_aside(
    work: Work,
    inspection: Inspection,
    requested: Mapping[str, Variant],
    monitor: Monitor,
    sent: SentCall | None = None,
) -> bool:
    """Does work that calls no user code, in any thread, even while a cell runs.

    That is all work on variants for targets, and generating the sources of others that have a
    capture, or for which another process can capture the graphs.

    Parameters
    ----------
    sent
        The call with its data, if `prepare` packed it.

    Returns
    -------
    bool
        False if a variant needs a capture first, which calls the subject: see `prepare`.
    """
    known = {variant.name for variant in inspection.report.variants if variant.stage != "failed"}
    new = {name: variant for name, variant in requested.items() if name not in known}
    try:
        new = new if work.kind != "build" or work.build else dict(requested)
        sources = inspection.sources
        elsewhere = {
            name: variant for name, variant in new.items() if not sources.has_capture(variant)
        }
        here = {name: variant for name, variant in new.items() if name not in elsewhere}
        if elsewhere and not sources.generate_elsewhere(elsewhere, monitor, sent):
            return False
        # A target's code is generated in another process, which needs no lock of this one.
        with responsive(), nullcontext() if is_aside(here) else generating(monitor):
            sources.generate(here, monitor)
        if work.kind == "study":
            inspection.study(list(requested), work.studies, monitor, options=dict(work.options))
        elif work.build:
            inspection.run(list(requested), monitor)
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - what the report has by now is not lost
        inspection.results.fault(error)
    return True


class Prepared(NamedTuple):
    """What `carry_out_aside` has from the thread that calls the subject."""

    sent: SentCall | None = None
    """The call with its data, if another process runs it; `carry_out_aside` does not close it."""


def prepare(
    inspection: Inspection, requested: Mapping[str, Variant], monitor: Monitor
) -> Prepared | None:
    """Calls the subject as often as `carry_out_aside` needs for the sources of these variants.

    Returns
    -------
    Prepared or None
        None if a fault of compilescope's own prevented it; the report notes the fault.
    """
    try:
        with responsive(), in_force(inspection.modes):
            return Prepared(inspection.sources.capture_for_sources(requested, monitor))
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - what the report has by now is not lost
        inspection.results.fault(error)
        return None


def carry_out(
    work: Work,
    inspection: Inspection,
    requested: Mapping[str, Variant],
    monitor: Monitor,
    on_news: Callable[[], None],
    *,
    sources_first: bool = True,
) -> None:
    """Does it, in torch's modes as they were when the subject was inspected.

    A fault of compilescope's own is noted in the report, which keeps the earlier results.

    Parameters
    ----------
    on_news
        Called when a measurement has new samples.
    sources_first
        Whether the sources of variants are generated before they are built, for someone who sees
        the report grow. False: they are read from the builds where possible, which takes less time.
    """
    # Existing variants are not generated again; failed ones are retried on request.
    known = {
        variant.name
        for variant in inspection.report.variants
        if work.kind != "build" or variant.stage != "failed"
    }
    new = {name: variant for name, variant in requested.items() if name not in known}
    try:
        with responsive(), in_force(inspection.modes), inspection.compile_workers(new):
            at_once = (
                work.kind == "build"
                and work.build
                and not sources_first
                and not any(variant.name in requested for variant in inspection.report.variants)
                and inspection.may_build_at_once(new)
            )
            if not at_once:
                inspection.sources.capture(new, monitor)
                inspection.sources.generate(new, monitor, is_shown=sources_first)
            if work.kind == "measure":
                inspection.measure(
                    list(requested),
                    monitor,
                    seconds=work.seconds,
                    restart=work.restart,
                    on_news=on_news,
                )
            elif work.kind == "study":
                inspection.study(
                    list(requested),
                    work.studies,
                    monitor,
                    options=dict(work.options),
                    existing=work.existing,
                    processes=work.processes,
                )
            elif work.build:
                if at_once:
                    inspection.build_at_once(requested, monitor)
                else:
                    inspection.run(list(requested), monitor)
            if work.breakdown and (
                plan := plan_breakdown(inspection.report, requested, inspection.results.changed)
            ):
                inspection.study([plan.variant], BREAKDOWN, monitor, existing=plan.existing)
    except Cancelled:
        raise
    except Exception as error:  # noqa: BLE001 - what the report has by now is not lost
        inspection.results.fault(error)
