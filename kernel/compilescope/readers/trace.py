"""Reports of torch's logs: a ``TORCH_TRACE`` file or a folder of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..analysis.assemble import assemble
from ..analysis.packages.trace_header import device_of, environment_of
from ..analysis.parts import collecting_failures
from ..analysis.problems.compile_failures import read_failures
from ..analysis.problems.distinct_breaks import distinct_breaks
from ..analysis.wrapper.launch_pairs import pair
from ..capture.parse_log import read
from ..capture.records import Record
from ..measure.garbage_collection import gc_disabled
from ..report import Problem, Report, Subject, VariantReport
from ..report.variant import Variant
from .collectives import collective_problems
from .lazy_trace import Trace
from .log_files import (
    Origin,
    common_path,
    find_logs,
    is_of_rank,
    names_of,
    origin,
    paths_of,
    ranks_of,
    trace_name,
    unreadable,
)
from .rank_divergence import divergence_problems
from .trace_summary import for_report, summary_of
from .unfinished import unfinished_problems
from .unique_compile_ids import distinguished, is_of_process
from .whole_trace import NO_CALLS, describe, last_written, stage_of


@gc_disabled()
def report_of(path: str | Path | Sequence[Path], rank: str | None = None) -> Report:
    """See `compilescope.read_trace`; the logs may be at several paths.

    Parameters
    ----------
    path
        A log or a folder of logs, or several.
    rank
        The only rank to include: ``rank 1``. None: all.
    """
    paths = paths_of(path)
    folder, called = common_path(paths), trace_name(paths)
    files, problems = find_logs(paths)
    report = Report(
        created=last_written(files),
        subject=Subject(id=f"trace:{called}", name=called, kind="trace", device=""),
        problems=problems,
    )
    traces: list[_ProcessRecords] = []
    for file in files:
        try:
            log = read(file)
        except OSError as error:
            report.problems.append(unreadable(file, error))
            continue
        for process_log in (log, *log.others):
            records = process_log.records
            # As in `Trace`: a process that compiled nothing is none, and its start is no attempt's.
            first = next((record for record in records if not is_of_process(record)), None)
            if first is None:
                report.problems += process_log.problems
                continue
            written_by = origin(file, folder, process_log.rank, first.time_s)
            traces.append(_ProcessRecords(written_by, records, process_log.problems))
    traces.sort(key=lambda trace: trace.origin.order)
    origins = []
    names = names_of([trace.origin for trace in traces])
    for trace, name in zip(traces, names, strict=True):
        if not is_of_rank(name, rank):
            continue
        origins.append(trace.origin)
        report.problems += trace.problems
        report.variants.append(_variant(trace.records, name))
        describe(report, environment_of(trace.records), device_of(trace.records))
    report.subject.name += ranks_of(origins)
    _pair(report.variants)
    with Trace(paths) as outlined:
        summary = summary_of(outlined, rank=rank, stacks=True, read=report.variants)
        report.trace = for_report(summary)
        report.problems += divergence_problems(report.trace.ranks)
        report.problems += collective_problems(outlined.processes_of(rank))
        report.problems += unfinished_problems(outlined.processes_of(rank))
    return report


class _ProcessRecords(NamedTuple):
    """What one process wrote."""

    origin: Origin
    records: list[Record]
    problems: list[Problem]


def _variant(records: Sequence[Record], name: str) -> VariantReport:
    records = distinguished(records)
    with collecting_failures() as unanalyzed:
        compilations = assemble(records, variant=name, raw=True)
    problems = [*read_failures(records, compilations), *unanalyzed]
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
