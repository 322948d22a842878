"""The problems of a report, at the top of every view."""

from __future__ import annotations

from ..analysis.problems.problem_list import problems_of
from ..report import Problem, Report


def problems(report: Report) -> list[tuple[str, Problem]]:
    """Return all problems, worst first, each once, with the variants that have it.

    The variants are ``""`` for a problem of the whole report, otherwise names separated by commas.
    """
    return [(", ".join(entry.variants), entry.problem) for entry in problems_of(report)]
