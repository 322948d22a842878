"""The part of a trace's report about the whole trace."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from ..report import Environment, Problem, Report
from ..version import __version__

NO_CALLS = "A trace holds what was compiled, and no calls."


def stage_of(
    problems: Sequence[Problem], *, has_results: bool
) -> Literal["sources", "built", "failed"]:
    """How far a process came.

    Parameters
    ----------
    problems
        What failed.
    has_results
        Whether torch kept a compilation to run it: those have guards.
    """
    if any(problem.severity == "error" for problem in problems):
        return "failed"
    return "built" if has_results else "sources"


def describe(report: Report, environment: Environment, device: str) -> None:
    """Say where a trace was written, as far as the report does not say it yet."""
    for field in environment.__struct_fields__:
        value = getattr(report.environment, field) or getattr(environment, field)
        setattr(report.environment, field, value)
    report.environment.compilescope = __version__
    report.subject.device = report.subject.device or device


def written(file: Path) -> str:
    """When a file was last written to, for `Report.created`."""
    stamp = datetime.datetime.fromtimestamp(file.stat().st_mtime, datetime.timezone.utc)
    return stamp.isoformat(timespec="seconds")
