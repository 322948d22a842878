"""The processes of a trace, and the difference between two traces, in words."""

from __future__ import annotations

from ...report.subjects.traces import (
    CompilationChange,
    ProcessDifference,
    ProcessSummary,
    TraceSummary,
)
from .outcome_words import OUTCOMES, compilation_count
from .wording import compile_time, count


def add_process_words(process: ProcessSummary) -> None:
    """Fill `ProcessSummary.counts`."""
    phrases = [
        compilation_count(process.compilations, process.failures, process.fallbacks),
        count(process.recompiles, "recompile"),
        count(process.graph_breaks, "graph break"),
        f"{len(process.unfinished)} unfinished" if process.unfinished else "",
        compile_time(process.compile_time_s),
    ]
    process.counts = [phrase for phrase in phrases if phrase]


def add_change_words(change: CompilationChange) -> None:
    """Fill `CompilationChange.outcome_words`."""
    if change.outcome is not None:
        change.outcome_words = " → ".join(OUTCOMES[outcome] for outcome in change.outcome)


def add_notes(process: ProcessDifference) -> None:
    """Fill `ProcessDifference.notes`."""
    process.notes = []
    if not (process.gone or process.new or process.changed):
        process.notes.append("Both compiled the same code.")
    if process.unread:
        what = count(process.unread, "further compilation")
        process.notes.append(f"Kernels and guards of {what} were not compared.")


def complete_trace(trace: TraceSummary) -> None:
    """Fill in the words of a trace from a file of an earlier version."""
    for summary in trace.processes:
        add_process_words(summary)
    for process in trace.difference.processes if trace.difference is not None else []:
        add_notes(process)
        for change in process.changed:
            add_change_words(change)
