"""The list of a report's or a trace's problems, once for every view."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...report import ListedProblem, Problem, Report
from ...report.problem import Severity

_RANK: dict[Severity, int] = {"error": 0, "warning": 1, "info": 2}


def problems_of(report: Report) -> list[ListedProblem]:
    """All problems of a report and of its variants."""
    variants = [(variant.name, variant.problems) for variant in report.variants]
    return listed([("", report.problems), *variants])


def listed(groups: Iterable[tuple[str, Iterable[Problem]]]) -> list[ListedProblem]:
    """Return problems that look the same once, the worst first.

    Parameters
    ----------
    groups
        Name of a variant or process, or an empty name for all of them, and the problems.
    """
    alike: dict[object, ListedProblem] = {}
    for name, problems in groups:
        for problem in problems:
            entry = alike.setdefault(_shown_of(problem), ListedProblem(problem=problem))
            if name and name not in entry.variants:
                entry.variants.append(name)
            if not entry.problem.detail and problem.detail:
                entry.problem = msgspec.structs.replace(entry.problem, detail=problem.detail)
    return sorted(alike.values(), key=lambda entry: _RANK[entry.problem.severity])


def _shown_of(problem: Problem) -> object:
    """Equal for two problems that look the same before their details are unfolded."""
    return problem.severity, problem.what, problem.why, problem.remedy, problem.where
