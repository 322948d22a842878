"""The summary of a cell's output in about eight lines; the rest is in the panel or folded."""

from __future__ import annotations

from typing import NamedTuple

from ...report import LIMIT_TITLE, Overview, Report, Result, TargetResult, conclude
from .. import summary, wording
from ..rows import watch

_ROWS = 5
"""The most variants in the table: more are in the panel, or folded if there is none."""
_TARGETS = 3


class Error(NamedTuple):
    """The worst problem of a report, if it is an error."""

    variant: str
    text: str


class CellSummary(NamedTuple):
    """The lines of the cell's output; fields without content are empty."""

    results: list[Result]
    targets: str
    """What is estimated for devices that are not there."""
    left_out: str
    """How many variants and targets are not in the table."""
    error: Error | None
    lines: list[tuple[str, str]]
    """Titles and texts."""
    counts: str
    foot: str
    """The subject of the report, and its environment."""
    hover: str
    """The arguments and the versions."""


def summarize(report: Report) -> CellSummary:
    """Return the summary of a report, short enough for a cell."""
    overview = conclude(report)
    is_watch = report.subject.kind == "watch"
    return CellSummary(
        results=_rows(overview.results),
        targets=_targets(overview.targets[:_TARGETS]),
        left_out=_left_out(overview),
        error=_error(report),
        lines=watch.causes(report) if is_watch else _lines(overview),
        # The headline and the causes have those of a watch.
        counts="" if is_watch else _counts(report, overview),
        foot=_foot(report, overview),
        hover="\n".join([*report.subject.arguments, overview.environment]),
    )


def _rows(results: list[Result]) -> list[Result]:
    """Return the rows to show: eager and the fastest before others, the timed before the rest."""

    def rank(result: Result) -> int:
        if result.latency_us is None:
            return 2
        return 0 if result.best or result.speedup is None else 1

    first = sorted(results, key=rank)[:_ROWS]
    return [result for result in results if result in first]


def _targets(targets: list[TargetResult]) -> str:
    return " · ".join(f"{target.title}, {target.text}" for target in targets)


def _left_out(overview: Overview) -> str:
    rows, targets = len(overview.results) - _ROWS, len(overview.targets) - _TARGETS
    parts = [wording.count(rows, "more variant") if rows > 0 else ""]
    parts += [wording.count(targets, "more target") if targets > 0 else ""]
    return " · ".join(filter(None, parts))


def _error(report: Report) -> Error | None:
    worst = next(iter(summary.problems(report)), None)
    if worst is None or worst[1].severity != "error":
        return None
    variant, problem = worst
    return Error(variant, " → ".join(filter(None, [problem.what, problem.remedy])))


def _lines(overview: Overview) -> list[tuple[str, str]]:
    timed = any(result.latency_us is not None for result in overview.results)
    limit = overview.limit
    lines = []
    # If nothing is timed, the headline says so.
    if overview.wrapper is not None and timed:
        lines.append(("C++ wrapper?", overview.wrapper.headline))
    if limit is not None and limit.bound != "unknown":
        lines.append((LIMIT_TITLE, limit.headline))
    return lines


def _counts(report: Report, overview: Overview) -> str:
    texts = [count.text for count in overview.counts]
    problems = len(summary.problems(report))
    return " · ".join([*texts, *([wording.count(problems, "problem")] if problems else [])])


def _foot(report: Report, overview: Overview) -> str:
    subject = report.subject
    where = wording.place(subject.where)
    kind = f"{subject.kind}, {where}" if where else subject.kind
    return " · ".join(filter(None, [f"{subject.name} ({kind})", overview.device]))
