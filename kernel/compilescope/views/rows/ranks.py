"""CUDA graphs, and the ranks of a distributed run, in sentences: the same in text and HTML."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.settings.cuda_graph_words import (
    counts_words,
    outcome_words,
    partition_words,
)
from ...report import Collective, CudaGraphs, RankDifference, Report, VariantReport
from .. import wording


def graphed(report: Report) -> Iterator[tuple[VariantReport, CudaGraphs]]:
    """Yield the variants that asked for CUDA graphs."""
    for variant in report.variants:
        if variant.cuda_graphs is not None and variant.cuda_graphs.outcome != "not asked":
            yield variant, variant.cuda_graphs


def graphs_line(graphs: CudaGraphs) -> str:
    """Return the use of CUDA graphs: counted or predicted."""
    return "; ".join(filter(None, [f"CUDA graphs: {outcome_words(graphs)}", counts_words(graphs)]))


def graphs_why(graphs: CudaGraphs) -> list[str]:
    """The reason, and the remedy."""
    if graphs.outcome == "no GPU" or not graphs.skips:
        return [graphs.why] if graphs.why else []
    return [
        " ".join(
            part for part in (f"{skip.reason}:", skip.meaning, skip.remedy, skip.setting) if part
        )
        for skip in graphs.skips
    ]


def partition_lines(graphs: CudaGraphs) -> list[str]:
    """Return whether each partition of the graphs is captured, a line each."""
    return [
        f"{part.compilation} {part.name}: {partition_words(part)}. {part.why}"
        for part in graphs.partitions
    ]


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
