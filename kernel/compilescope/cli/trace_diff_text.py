"""The differences between two traces, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.figures.wording import count
from ..report.subjects.traces import (
    CompilationChange,
    CompilationLine,
    ProcessDifference,
    TimeChange,
    TraceDifference,
)
from ..report.units import duration
from . import diff, trace_text

_SHOWN = 20
"""The most differences shown of each kind; the JSON has all."""
_SHOWN_GUARDS = 5


def difference_text(difference: TraceDifference) -> Iterator[str]:
    """Yield the lines of a difference."""
    for process in difference.processes:
        yield diff.title(process.before, process.after)
        yield from diff.figures(process.figures)
        if process.in_changed:
            yield "  in compilations that differ:"
            yield from (f"  {row}" for row in diff.figures(process.in_changed))
        if any(process.compile_time_s):
            before, after = (duration(seconds * 1e6) for seconds in process.compile_time_s)
            yield f"  compile time {before} → {after} (each measured once)"
        yield from _compilations("-", "no longer compiled", process.gone)
        yield from _compilations("+", "newly compiled", process.new)
        yield from _times("slower", process.slower)
        yield from _times("faster", process.faster)
        yield from _changes(process)
        for note in process.notes:
            yield f"  {note}"
        if process.unread:
            yield "  --all compares them."
    for name in difference.only_before:
        yield f"only before: {name}"
    for name in difference.only_after:
        yield f"only after: {name}"


def _compilations(mark: str, what: str, lines: Sequence[CompilationLine]) -> Iterator[str]:
    for line in lines[:_SHOWN]:
        reason = f": {line.recompile}" if line.recompile else ""
        yield f"  {mark} {what}: {trace_text.compilation_name(line)}{reason}"
    yield from _rest(lines)


def _times(word: str, times: Sequence[TimeChange]) -> Iterator[str]:
    for time in times[:_SHOWN]:
        change = f"{duration(time.before_s * 1e6)} → {duration(time.after_s * 1e6)}"
        yield f"  {word}: {time.function}, {diff.title(time.before, time.after)}: {change}"
    yield from _rest(times)


def _changes(process: ProcessDifference) -> Iterator[str]:
    for change in process.changed[:_SHOWN]:
        first = f": {change.graph}" if change.graph else ""
        yield f"  ≠ {change.function}, {diff.title(change.before, change.after)}{first}"
        yield from _details(change)
    yield from _rest(process.changed)


def _details(change: CompilationChange) -> Iterator[str]:
    if change.outcome is not None:
        yield f"      {change.outcome_words}"
    if change.graph:
        yield from _listed("-", [change.line_before])
        yield from _listed("+", [change.line_after])
    if change.recompile is not None:
        for mark, reason in zip("-+", change.recompile, strict=True):
            yield from _listed(mark, [f"recompiled: {reason}" if reason else "not recompiled"])
    yield from _listed("-", change.kernels_gone)
    yield from _listed("+", change.kernels_new)
    yield from _listed("≠", change.kernels_changed)
    for mark, guards in (("-", change.guards_gone), ("+", change.guards_new)):
        yield from _listed(mark, [f"guard {guard}" for guard in guards[:_SHOWN_GUARDS]])
        if len(guards) > _SHOWN_GUARDS:
            yield f"      {mark} … and {count(len(guards) - _SHOWN_GUARDS, 'more guard')}"


def _listed(mark: str, texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield f"      {mark} {' '.join(text.split())}"


def _rest(items: Sequence[object]) -> Iterator[str]:
    if len(items) > _SHOWN:
        yield f"  … and {len(items) - _SHOWN} more: --json has all"
