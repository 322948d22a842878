"""The summary of a trace, from the heads of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from ..analysis.figures.counts import recompile_count
from ..analysis.figures.trace_words import add_process_words
from ..analysis.problems.failed_records import outcome_of, restart_reasons
from ..capture.logged_values import compile_time_s, finite
from ..report import Compilation, VariantReport
from ..report.subjects.traces import (
    BackwardLine,
    CompilationLine,
    ProcessSummary,
    RankComparison,
    Stacks,
    TraceSummary,
)
from ..torch_api.trace.record_names import BACKWARD_METRICS, COMPILATION_METRICS
from .collectives import collective_problems
from .lazy_trace import ProcessLog, Trace
from .lost_time import CompileSeconds, lost_time
from .outlines import Events
from .unfinished import unfinished_problems

_MAX_SLOWEST = 5


def summary_of(
    trace: Trace,
    *,
    rank: str | None = None,
    redact: bool = False,
    stacks: bool = False,
    read: Sequence[VariantReport] | None = None,
) -> TraceSummary:
    """Summarize a trace without reading its texts.

    Parameters
    ----------
    trace
        As far as it was read.
    rank
        The name of one process, to summarize it alone: ``rank 1``. None: all.
    redact
        Leave out folders' names, source code and quoted values.
    stacks
        Include the call stacks that triggered compilations; a redacted summary has none.
    read
        The processes with all their texts, if they are read: these tell the causes of recompiles,
        and which are avoidable, better than the heads of records.
    """
    report = trace.report(rank)
    logs = {log.name: log for log in trace.processes_of(rank)}
    comparison: RankComparison | None = None
    if len(trace.processes) > 1 and rank is None and not redact:
        from .rank_divergence import compare_ranks, divergence_problems

        comparison = compare_ranks(trace)
        report.problems += divergence_problems(comparison)
    trees: list[Stacks] = []
    if stacks and not redact:
        from .stacks import stacks_of

        trees = stacks_of(logs.values())
    report.problems += collective_problems(list(logs.values()))
    report.problems += unfinished_problems(logs.values())
    if redact:
        report = report.redacted()
    variants = [variant for variant in report.variants if variant.name in logs]
    lines = [line for variant in variants for line in compilation_lines(variant)]
    lines.sort(key=lambda line: -(line.duration_s or 0.0))
    spent = {name: _compile_seconds(log, redact=redact) for name, log in logs.items()}
    return TraceSummary(
        name=report.subject.name,
        environment=report.environment,
        processes=[_process(variant, logs[variant.name]) for variant in variants],
        slowest=[line for line in lines[:_MAX_SLOWEST] if line.duration_s],
        fix_first=lost_time(variants if read is None else read, spent),
        ranks=comparison,
        stacks=trees,
        written=report.created,
        problems=report.problems,
    )


def for_report(trace_summary: TraceSummary) -> TraceSummary:
    """The summary without problems, which the report of the trace has itself."""
    return replace(
        trace_summary,
        processes=[replace(process, problems=[]) for process in trace_summary.processes],
        problems=[],
    )


def compilation_lines(variant: VariantReport) -> list[CompilationLine]:
    """The compilations of a process as lines of a list, in torch's order."""
    return [_line(compilation, variant.name) for compilation in variant.compilations]


def backward_line(compilation: Compilation, process: str, events: Events) -> BackwardLine:
    """The backward of a compilation, which torch compiled after its forward.

    Parameters
    ----------
    compilation, process
        The outline, and the name of its process.
    events
        What torch logged of it.
    """
    metrics = events.metrics(BACKWARD_METRICS)
    own = [record for record in events.records if record.event == BACKWARD_METRICS]
    return BackwardLine(
        id=compilation.id,
        process=process,
        frame=compilation.frame,
        started_s=finite(metrics.get("start_time")),
        duration_s=compile_time_s(metrics),
        outcome=outcome_of(own),
    )


def _line(compilation: Compilation, process: str) -> CompilationLine:
    recompile = compilation.recompile
    return CompilationLine(
        id=compilation.id,
        process=process,
        frame=compilation.frame,
        started_s=compilation.started_s,
        duration_s=compilation.duration_s,
        recompile=recompile.cause if recompile is not None else "",
        graph_breaks=len(compilation.breaks),
        outcome=compilation.outcome,
        caches={event.cache: event.outcome for event in compilation.cache},
        nodes=compilation.counts.get("nodes"),
    )


def _process(variant: VariantReport, log: ProcessLog) -> ProcessSummary:
    compilations = variant.compilations
    outcomes = Counter(compilation.outcome for compilation in compilations)
    caches: dict[str, dict[str, int]] = {}
    for compilation in compilations:
        for event in compilation.cache:
            answers = caches.setdefault(event.cache, {})
            answers[event.outcome] = answers.get(event.outcome, 0) + 1
    summary = ProcessSummary(
        name=variant.name,
        compilations=len(compilations),
        recompiles=recompile_count(compilations),
        graph_breaks=len(variant.breaks),
        failures=outcomes["failed"],
        fallbacks=outcomes["eager"],
        compile_time_s=sum(compilation.duration_s or 0.0 for compilation in compilations),
        unfinished=[events.id for events in log.events.values() if events.is_unfinished],
        caches=caches,
        problems=variant.problems,
    )
    add_process_words(summary)
    return summary


def _compile_seconds(log: ProcessLog, *, redact: bool) -> dict[str, CompileSeconds]:
    figures: dict[str, CompileSeconds] = {}
    for events in log.events.values():
        metrics = events.metrics(COMPILATION_METRICS)
        spent = figures[events.id] = CompileSeconds(
            inductor_s=_number(metrics, "inductor_compile_time_s"),
        )
        if restart_reasons(metrics):
            from .restart_reasons import add_restarts  # most traces have no restart

            add_restarts(spent, metrics, log.outline(events).breaks, redact=redact)
    return figures


def _number(metrics: dict[str, object], name: str) -> float:
    return finite(metrics.get(name)) or 0.0
