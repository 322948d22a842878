"""The part of a trace's report about the whole trace."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from ..report import Environment, Problem, Report
from ..version import __version__

NO_CALLS = "A trace contains compilations, not calls."


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


def last_written(files: Iterable[Path]) -> str:
    """When the newest of some files was written to, for `Report.created`.

    Files that were deleted since they were opened do not count.
    """
    times_s = []
    for file in files:
        with contextlib.suppress(OSError):
            times_s.append(file.stat().st_mtime)
    if not times_s:
        return ""
    stamp = datetime.datetime.fromtimestamp(max(times_s), datetime.timezone.utc)
    return stamp.isoformat(timespec="seconds")
