"""Reports of torch's logs: a ``TORCH_TRACE`` file or a folder of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..analysis.assemble import assemble
from ..analysis.packages.trace_header import device_of, environment_of
from ..analysis.problems.compile_failures import read_failures
from ..analysis.problems.distinct_breaks import distinct_breaks
from ..analysis.wrapper.links import pair
from ..capture.records import Record
from ..capture.tracelog import read
from ..measure.garbage_collection import gc_disabled
from ..report import Report, Subject, VariantReport
from ..report.variant import Variant
from .collectives import collective_problems
from .epochs import distinguished
from .headers import NO_CALLS, describe, stage_of, written
from .lazy_trace import Trace
from .log_files import (
    Origin,
    common_path,
    find_logs,
    names_of,
    origin,
    paths_of,
    ranks_of,
    unreadable,
)
from .rank_divergence import divergence_problems
from .trace_summary import for_report, summary_of


@gc_disabled()
def report_of(path: str | Path | Sequence[Path]) -> Report:
    """See `compilescope.read_trace`; the logs may be at several paths."""
    paths = paths_of(path)
    path = common_path(paths)
    files, problems = find_logs(paths)
    report = Report(
        created=written(files[-1]),
        subject=Subject(id=f"trace:{path.name}", name=path.name, kind="trace", device=""),
        problems=problems,
    )
    traces: list[tuple[Origin, list[Record]]] = []
    for file in files:
        try:
            log = read(file)
        except OSError as error:
            report.problems.append(unreadable(file, error))
            continue
        report.problems += log.problems
        for process_log in (log, *log.others):
            report.problems += process_log.problems if process_log is not log else []
            if process_log.records:
                traces.append(
                    (
                        origin(file, path, process_log.rank, process_log.records[0].time_s),
                        process_log.records,
                    )
                )
    traces.sort(key=lambda trace: trace[0].order)
    origins = [written_by for written_by, _ in traces]
    for (_, records), name in zip(traces, names_of(origins), strict=True):
        report.variants.append(_variant(records, name))
        describe(report, environment_of(records), device_of(records))
    report.subject.name += ranks_of(origins)
    _pair(report.variants)
    with Trace(paths) as trace:
        report.trace = for_report(summary_of(trace, stacks=True))
        report.problems += divergence_problems(report.trace.ranks)
        report.problems += collective_problems(trace.processes)
    return report


def _variant(records: Sequence[Record], name: str) -> VariantReport:
    records = distinguished(records)
    compilations = assemble(records, variant=name, raw=True)
    problems = read_failures(records, compilations)
    return VariantReport(
        name=name,
        requested=Variant(cpp_wrapper=any(compilation.code.cpp for compilation in compilations)),
        stage=stage_of(
            problems,
            has_results=any(
                compilation.guards or compilation.code.path for compilation in compilations
            ),
        ),
        compilations=compilations,
        problems=problems,
        breaks=distinct_breaks(compilations),
        absent={"timing": NO_CALLS},
    )


def _pair(variants: list[VariantReport]) -> None:
    """Link a trace of the Python wrapper with one of the C++ wrapper."""
    if len(variants) == 2 and variants[0].requested != variants[1].requested:
        python, cpp = sorted(variants, key=lambda variant: variant.requested.cpp_wrapper)
        partners = {compilation.id: compilation for compilation in cpp.compilations}
        for compilation in python.compilations:
            if compilation.id in partners:
                pair(compilation, partners[compilation.id])
