"""The ranks of a distributed run, in sentences: the same in text and HTML."""

from __future__ import annotations

from ...report import Collective, RankDifference, Report
from .. import wording


def rank_line(report: Report) -> str:
    """The rank that the report belongs to; empty if it belongs to none."""
    rank = report.rank
    if rank is None:
        return ""
    return " \u00b7 ".join(filter(None, [rank.title, rank.outcome]))


def lines(report: Report, most: int) -> list[str]:
    """Return the first differences from other ranks and the first collectives, a line each."""
    rank = report.rank
    if rank is None:
        return []
    calls = rank.collectives
    left_out = len(calls) - most
    return [
        *(difference_line(difference, rank.rank) for difference in rank.differences[:most]),
        *(f"{call.variant}: {collective_line(call)}" for call in calls[:most]),
        *([f"and {wording.count(left_out, 'more collective')}"] if left_out > 0 else []),
    ]


def difference_line(difference: RankDifference, rank: int) -> str:
    """A difference in a sentence."""
    sides = f"{difference.here} on rank {rank}, {difference.there} on rank {difference.other}"
    return f"{difference.what}: {sides}. {difference.why}"


def collective_line(collective: Collective) -> str:
    """A collective in a sentence: ``all_reduce_ sum float32[16] in 0/0, line 34, waited for …``."""
    shape = (
        f"{collective.dtype}[{', '.join(collective.shape)}]"
        if collective.dtype or collective.shape
        else ""
    )
    parts = [collective.name or collective.operator, collective.reduction, shape]
    if collective.outside:
        parts.append(f"by torch.distributed, {collective.direction}")
    else:
        parts.append(f"in {collective.compilation} {collective.direction}")
    sentence = " ".join(part for part in parts if part)
    if collective.line is not None:
        sentence += f", line {collective.line}"
    if collective.waited is not None:
        sentence += f", waited for in line {collective.waited}"
    if collective.between is not None:
        sentence += f", {wording.count(collective.between, 'kernel')} meanwhile"
    return sentence
