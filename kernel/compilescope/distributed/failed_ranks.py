"""Ranks that failed: their reports, and which of them the others stopped for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ..report import Report, Subject
from ..report.problem import Problem
from ..report.subjects.ranks import Rank
from ..torch_api.process.environment import environment

ENDED_FOR_ANOTHER = "because another rank had died or exited."
"""The end of the problem of a rank that was ended for another one."""
OTHER_ENDED = "This rank stopped because another one had ended."
FAILED_HERE = "The call failed on this rank, and others may wait for it."
_TOO_LONG = re.compile(r"Rank \d+ was ended after ")
_LOST = re.compile(
    r"Connection (?:closed|reset) by peer|Broken pipe|ncclRemoteError|remote process exited"
    r"|NCCL communicator was aborted|Watchdog caught collective"
)
"""What torch says of a collective, or of its store, after the process of another rank has ended."""


def failed_report(rank: Rank, problem: Problem) -> Report:
    """The report of a rank whose call was not inspected."""
    return Report(
        subject=Subject(id=f"{rank.group}-{rank.rank}", name=f"rank {rank.rank}", kind="callable"),
        environment=environment(),
        problems=[problem],
        rank=rank,
    )


def named(ranks: Sequence[int]) -> str:
    """``Rank 1``, or ``Ranks 1, 2``."""
    several = "s" if len(ranks) > 1 else ""
    return f"Rank{several} {', '.join(str(rank) for rank in ranks)}"


def name_causes(reports: Sequence[Report]) -> None:
    """In the problems of ranks that stopped for another one, name that rank and what failed there.

    Parameters
    ----------
    reports
        Of all ranks, each with its ``rank``; changed in place.
    """
    own: dict[int, Problem] = {}
    for report in reports:
        failures = [problem for problem in _errors(report) if not _is_consequence(problem)]
        if failures and report.rank is not None:
            own[report.rank.rank] = failures[0]
    if not own:
        # A rank that exceeds the time limit is ended, which closes its connections.
        for report in reports:
            for problem in _errors(report):
                if _TOO_LONG.match(problem.what) and report.rank is not None:
                    own.setdefault(report.rank.rank, problem)
    for report in reports:
        if report.rank is None:
            continue
        rank = report.rank.rank
        others = {number: problem for number, problem in own.items() if number != rank}
        for problem in _errors(report):
            if _is_consequence(problem) and problem is not own.get(rank):
                _explain(problem, rank, others)


def _errors(report: Report) -> Iterator[Problem]:
    """The errors of a report, those of its variants last."""
    for problems in (report.problems, *(variant.problems for variant in report.variants)):
        for problem in problems:
            if problem.severity == "error" and problem.what != FAILED_HERE:
                yield problem


def _is_consequence(problem: Problem) -> bool:
    return (
        problem.what == OTHER_ENDED
        or problem.what.endswith(ENDED_FOR_ANOTHER)
        or _TOO_LONG.match(problem.what) is not None
        or _is_lost(problem)
    )


def _is_lost(problem: Problem) -> bool:
    return _LOST.search(f"{problem.what}\n{problem.why}") is not None


def _explain(problem: Problem, rank: int, others: Mapping[int, Problem]) -> None:
    if _is_lost(problem):
        problem.what = f"Rank {rank} lost its connection to another rank."
        problem.why = "The process of that rank had ended."
        problem.remedy = "See the problems of the other ranks."
    for number, cause in others.items():
        what = cause.what.rstrip(".")
        problem.why = f"{what}." if f"ank {number} " in what else f"On rank {number}: {what}."
        problem.remedy = f"Fix that: see the problems of rank {number}."
        return
