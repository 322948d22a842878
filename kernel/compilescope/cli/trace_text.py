"""A trace's summary and list of compilations as text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ..analysis.figures.environment_words import machine_line
from ..analysis.figures.outcome_words import outcome_words
from ..analysis.figures.wording import count
from ..analysis.problems.problem_list import listed
from ..report import Problem, SourceLine
from ..report.subjects.traces import (
    BackwardLine,
    CompilationLine,
    LostTime,
    ProcessSummary,
    Stacks,
    TraceSummary,
)
from ..report.units import duration
from .terminal import Paint

_WIDTH = 100
_SHOWN_PROCESSES = 16
_SHOWN_NAMES = 4
_SHOWN_PROBLEMS = 8
_SHOWN_LOSSES = 5


def summary(trace_summary: TraceSummary, paint: Paint) -> Iterator[str]:
    """Yield the lines of a summary."""
    yield paint("bold", trace_summary.name)
    environment = machine_line(trace_summary.environment)
    if environment:
        yield paint("dim", environment)
    yield ""
    yield from _processes(trace_summary.processes)
    if trace_summary.ranks is not None:
        yield ""
        yield from _wrapped(trace_summary.ranks.sentence, "")
    processes = [(process.name, process.problems) for process in trace_summary.processes]
    problems = listed([("", trace_summary.problems), *processes])
    scoped = len(trace_summary.processes) > 1
    if problems:
        yield ""
    for entry in problems[:_SHOWN_PROBLEMS]:
        yield from _problem(entry.problem, entry.variants if scoped else [], paint)
    if len(problems) > _SHOWN_PROBLEMS:
        yield f"… and {count(len(problems) - _SHOWN_PROBLEMS, 'more problem')}: --json has all"
    if trace_summary.fix_first:
        yield ""
        yield from what_to_change(trace_summary, paint)
    if trace_summary.slowest:
        yield ""
        yield paint("bold", "Slowest compilations")
        yield from compilations(trace_summary.slowest, paint, scoped=scoped)


def what_to_change(trace_summary: TraceSummary, paint: Paint) -> Iterator[str]:
    """Yield what to change, and the compile time that it costs; nothing if that is nothing."""
    if trace_summary.fix_first:
        yield paint("bold", "What to change first, by avoidable compile time (measured)")
    for number, loss in enumerate(trace_summary.fix_first[:_SHOWN_LOSSES], 1):
        yield from _loss(number, loss, paint, scoped=len(trace_summary.processes) > 1)


def compilations(lines: Sequence[CompilationLine], paint: Paint, *, scoped: bool) -> Iterator[str]:
    """Yield a table: time, compile id, function, and what was special about it."""
    rows = [_row(line, paint, scoped=scoped) for line in lines]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(2)]
    for time, compile_id, rest in rows:
        yield f"{time:>{widths[0]}}  {compile_id:{widths[1]}}  {rest}".rstrip()


def stacks(trees: Sequence[Stacks], paint: Paint) -> Iterator[str]:
    """Yield the calls that led to compilations, each tree below its processes' names."""
    for tree in trees:
        if len(trees) > 1:
            yield paint("bold", ", ".join(tree.processes))
        for line in tree.lines:
            ids = f"  {paint('bold', ' '.join(line.compilations))}" if line.compilations else ""
            yield f"{'  ' * line.depth}{_place(line.where, paint)}{ids}"
        if tree.unknown:
            yield f"torch logged no stack of {', '.join(tree.unknown)}"
        if tree.left_out:
            yield f"… and {count(tree.left_out, 'more compilation')}"


def ended(
    line: CompilationLine, why: str, since_s: float | None, paint: Paint, *, scoped: bool
) -> Iterator[str]:
    """Yield a compilation of a log that is followed, and the reason below it if it has one.

    Parameters
    ----------
    line, why
        The compilation, and why it failed or fell back to eager; empty if it was compiled.
    since_s
        When it began, from the first compilation on.
    """
    time, compile_id, rest = _row(line, paint, scoped=scoped)
    since = "" if since_s is None else f"+{since_s:.1f} s"
    yield f"{since:>9}  {time:>8}  {compile_id}  {rest}".rstrip()
    reason = (why or line.recompile).partition("\n")[0]
    if reason:
        style = {"failed": "error", "eager": "warning"}.get(line.outcome, "dim")
        yield f"{'':21}{paint(style, reason)}"


def compilation_name(line: CompilationLine) -> str:
    """A compilation in a sentence: its function, place, compile id and time."""
    time = "" if line.duration_s is None else f", {duration(line.duration_s * 1e6)}"
    return f"{_place(line.frame) or 'an unknown function'}, {line.id}{time}"


def _row(line: CompilationLine, paint: Paint, *, scoped: bool) -> tuple[str, str, str]:
    notes = ["backward"] if isinstance(line, BackwardLine) else []
    if line.outcome != "compiled":
        notes.append(outcome_words(line.outcome))
    if line.is_recompile:
        notes.append("recompiled")
    if line.graph_breaks:
        notes.append(count(line.graph_breaks, "graph break"))
    notes += [f"{cache} {answer}" for cache, answer in line.caches.items()]
    name = f"{line.process} {line.id}" if scoped else line.id
    time = "-" if line.duration_s is None else duration(line.duration_s * 1e6)
    function = _place(line.frame, paint) or "-"
    return time, name, "  ".join([function, ", ".join(notes)]).rstrip()


def _processes(processes: Sequence[ProcessSummary]) -> Iterator[str]:
    if not processes:
        yield "No compilations: torch logged none."
    rows = [(process.name, _counts(process)) for process in processes]
    width = max((len(name) for name, _ in rows), default=0)
    for name, counts in rows[:_SHOWN_PROCESSES]:
        yield f"{name:{width}}  {counts}" if len(rows) > 1 else counts
    if len(rows) > _SHOWN_PROCESSES:
        yield f"… and {count(len(rows) - _SHOWN_PROCESSES, 'more process', 'more processes')}"


def _counts(process: ProcessSummary) -> str:
    caches = [f"{cache} cache: {_answers(answers)}" for cache, answers in process.caches.items()]
    return ", ".join([*process.counts, *caches])


def _answers(answers: dict[str, int]) -> str:
    plurals = {"hit": "hits", "miss": "misses", "bypass": "bypasses"}
    return " and ".join(count(answers[name], name, plurals[name]) for name in answers)


def _problem(problem: Problem, names: Sequence[str], paint: Paint) -> Iterator[str]:
    mark = f"{problem.severity}:"
    if problem.severity in ("error", "warning"):
        mark = paint(problem.severity, mark)
    where = _place(problem.where, paint)
    scope = f"[{_listed(names)}] " if names else ""
    yield f"{mark} {scope}{problem.what}" + (f"  ({where})" if where else "")
    yield from _wrapped(problem.why, "  ")
    yield from _wrapped(problem.remedy, "  → ")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


_CODE = "compilescope show says what to change in the code."
"""Where the summary of a trace, which is made without its texts, has no code."""


def _loss(number: int, loss: LostTime, paint: Paint, *, scoped: bool) -> Iterator[str]:
    where = _place(loss.where, paint, with_function=False)
    process = f", {loss.process}" if scoped else ""
    place = f"  ({where}{process})" if where else (f"  ({loss.process})" if scoped else "")
    time = duration(loss.seconds * 1e6) if loss.seconds else "not measured"
    yield f"{number}. {time}: {loss.what}{place}"
    if loss.why:
        yield from _wrapped(loss.why, "   ")
    if loss.kind != "failure":
        remedy = loss.remedy
        if loss.kind == "recompiles":
            remedy = f"{remedy} {_CODE}".lstrip()
        yield from _wrapped(remedy, "   → ")


def _wrapped(text: str, indent: str) -> list[str]:
    return [
        line
        for paragraph in text.splitlines()
        for line in textwrap.wrap(
            paragraph,
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=" " * len(indent),
            break_long_words=False,
            break_on_hyphens=False,
        )
    ]


def _place(
    where: SourceLine | None, paint: Paint | None = None, *, with_function: bool = True
) -> str:
    if where is None:
        return ""
    file = where.file.replace("\\", "/").rpartition("/")[2]
    function = f"{where.function}, " if with_function and where.function else ""
    place = f"{file}:{where.line}"
    return function + (paint.link(where.file, place) if paint else place)
