"""Inspections whose variants all have one problem."""

from __future__ import annotations

from typing import Any

from compilescope.report import Problem, Report
from compilescope.session.session import Session

from ...subjects import Call


def inspect(call: Call, **options: Any) -> Report:
    return Session().inspect(call.fn, call.args, call.kwargs, **options)


def the_problem(report: Report, stage: str = "failed") -> Problem:
    """The one problem that every variant has."""
    compiled = [variant for variant in report.variants if variant.requested.backend is not None]
    assert {variant.stage for variant in compiled} == {stage}
    problems = [variant.problems for variant in compiled]
    assert all(len(problem) == 1 for problem in problems), problems
    assert {problem[0].what for problem in problems} == {problems[0][0].what}
    assert problems[0][0].why
    assert problems[0][0].remedy
    return problems[0][0]
