"""Variants, compilations and sweeps without their texts."""

from __future__ import annotations

from collections import Counter

import msgspec

from ...report import (
    STAGES,
    Changes,
    Compilation,
    Report,
    SourceLine,
    Subject,
    Sweep,
    TargetReport,
    VariantReport,
)
from ...report.contents import (
    ChangedSummary,
    CompilationSummary,
    SweepSummary,
    TargetSummary,
    VariantSummary,
)
from ...report.devices import arch_name
from ..figures import event_counts
from ..figures.counts import always_recompiles, first_recompiles, recompile_count
from ..figures.intervals import known_interval
from ..figures.outcome_words import outcome_words
from ..figures.speedups import latency
from ..figures.stages import stage_words, triton_kernels
from ..target.check_words import checked
from ..target.estimate_words import call_words, estimate_lines, nothing_ran
from ..wrapper.default_sides import has_cpp_wrapper, other_wrapper
from .texts import listed


def variant_summary(report: Report, variant: VariantReport) -> VariantSummary:
    """A variant of a report without its texts."""
    timing = variant.timing
    other = other_wrapper(report.variants, variant)
    return VariantSummary(
        name=variant.name,
        requested=variant.requested,
        stage=variant.stage,
        stage_words=stage_words(variant),
        median_us=timing.median_us if timing else None,
        interval_us=known_interval(timing),
        latency=latency(timing) if timing else "",
        speedup=timing.speedup if timing else None,
        compile_s=variant.compile_time.total_s if variant.compile_time else None,
        accurate=all(error.ok for error in variant.accuracy) if variant.accuracy else None,
        compilations=[
            compilation_summary(compilation, report.subject) for compilation in variant.compilations
        ],
        recompiles=recompile_count(variant.compilations),
        breaks=len(variant.breaks),
        recompile_count=event_counts.variant_recompiles(report, variant),
        break_count=event_counts.variant_breaks(report, variant),
        problems=variant.problems,
        verdict=variant.verdict,
        studied=variant.studied,
        target=_target(variant, variant.target) if variant.target is not None else None,
        filled=filled(variant),
        changed=_changed(variant.changes) if variant.changes is not None else None,
        earlier=variant.earlier,
        recorded=variant.recorded,
        has_cpp_wrapper=has_cpp_wrapper(variant),
        other_wrapper=other.name if other is not None else "",
    )


def _changed(changes: Changes) -> ChangedSummary:
    return ChangedSummary(
        baseline=changes.baseline, summary=changes.summary, switches=changes.switches
    )


def _target(variant: VariantReport, target: TargetReport) -> TargetSummary:
    kernels = triton_kernels(variant)
    return TargetSummary(
        name=target.name,
        title=target.device.name,
        arch=arch_name(target.device.build) if target.device.build else "",
        is_here=target.is_here,
        estimate=target.estimate,
        kernels=len(kernels),
        compiled=sum(bool(kernel.assembly) for kernel in kernels),
        checks=dict(Counter(kernel.check.outcome for kernel in kernels if kernel.check)),
        call_words=call_words(target),
        estimated=[nothing_ran(target), *estimate_lines(variant)],
        checked=checked(variant),
    )


def sweep_summary(sweep: Sweep) -> SweepSummary:
    """The state of a sweep."""
    return SweepSummary(
        id=sweep.id,
        state=sweep.state,
        cells=len(sweep.cells),
        finished=sum(cell.has_ended for cell in sweep.cells),
    )


def filled(variant: VariantReport) -> list[str]:
    """The fields of a variant and of its compilations that hold something.

    Where later calls recompile there is something to say of that, although the inspected one did
    not.
    """
    fields = {
        field
        for compilation in (variant, *variant.compilations)
        for field in compilation.__struct_fields__
        if (value := getattr(compilation, field))
        and isinstance(value, list | dict | msgspec.Struct)
    }
    if always_recompiles(variant) or first_recompiles(variant):
        fields.add("recompile")
    return sorted(fields)


def _at_def(frame: SourceLine, subject: Subject | None) -> SourceLine:
    """A frame with the line of its ``def``, if it is the subject's: torch has a decorator's."""
    where = subject.where if subject is not None else None
    if where is None or frame.line >= where.line or frame.file != where.file:
        return frame
    name, own = (each.function.rpartition(".")[2] for each in (frame, where))
    return msgspec.structs.replace(frame, line=where.line) if name == own else frame


def compilation_summary(
    compilation: Compilation, subject: Subject | None = None
) -> CompilationSummary:
    """A compilation without its texts.

    Parameters
    ----------
    compilation
        A compilation of a report or of a trace.
    subject
        The report's.
    """
    frame = compilation.frame and _at_def(compilation.frame, subject)
    # Of one that was reduced, how many there were.
    counts = compilation.counts
    return CompilationSummary(
        id=compilation.id,
        frame="" if frame is None else f"{frame.function} ({frame.file}:{frame.line})",
        name="" if frame is None else frame.function,
        artifacts=[text.artifact() for text in listed(compilation)],
        guards=counts.get("guards", len(compilation.guards)),
        breaks=len(compilation.breaks),
        kernels=counts.get("kernels", len(compilation.kernels)),
        recompile=[cause.text for cause in compilation.recompile.causes]
        if compilation.recompile
        else [],
        stages=[stage for stage in STAGES if stage in compilation.graphs],
        nodes=counts.get(
            "nodes", max((len(graph.nodes) for graph in compilation.graphs.values()), default=0)
        ),
        started_s=compilation.started_s,
        duration_s=compilation.duration_s,
        cell=compilation.cell,
        call=compilation.call,
        where=frame,
        reduced=compilation.reduced,
        torch_id=compilation.torch_id,
        cell_number=compilation.cell_number,
        caches={event.cache: event.outcome for event in compilation.cache},
        outcome=compilation.outcome,
        outcome_words=outcome_words(compilation.outcome),
    )
