"""CUDA graphs, and the ranks of a distributed run, in sentences: the same in text and HTML."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Collective, CudaGraphs, RankDifference, Report, VariantReport
from .. import wording

_OUTCOMES = {
    "captured": "captured",
    "partly": "captured in part",
    "skipped": "not captured",
    "no GPU": "no GPU",
    "unknown": "unknown",
}


def graphed(report: Report) -> Iterator[tuple[VariantReport, CudaGraphs]]:
    """Yield the variants that asked for CUDA graphs."""
    for variant in report.variants:
        if variant.cuda_graphs is not None and variant.cuda_graphs.outcome != "not asked":
            yield variant, variant.cuda_graphs


def graphs_line(found: CudaGraphs) -> str:
    """What became of CUDA graphs: counted, or foreseen."""
    if found.calls:
        figures = f"in {wording.count(found.calls, 'call')} {found.captured} recorded, "
        figures += f"{found.replayed} replayed, {found.re_recorded} recorded again"
        return f"CUDA graphs: {_OUTCOMES[found.outcome]}; {figures}"
    foreseen = "would be " if found.outcome in ("captured", "partly") else ""
    return f"CUDA graphs: {foreseen}{_OUTCOMES[found.outcome]}"


def graphs_why(found: CudaGraphs) -> list[str]:
    """Why, and what changes it."""
    if found.outcome == "no GPU" or not found.skips:
        return [found.why] if found.why else []
    return [
        " ".join(
            part for part in (f"{skip.reason}:", skip.meaning, skip.remedy, skip.setting) if part
        )
        for skip in found.skips
    ]


def partition_lines(found: CudaGraphs) -> list[str]:
    """Return what became of each part of the graphs, a line each."""
    return [
        f"{part.compilation} {part.name}: {'captured' if part.captured else 'not captured'}, "
        f"{wording.count(part.kernels, 'launch', 'launches')}. {part.why}"
        for part in found.partitions
    ]


def rank_line(report: Report) -> str:
    """Which rank the report is of; nothing where it is of none."""
    rank = report.rank
    if rank is None:
        return ""
    same = "the same code on every rank" if rank.same else ""
    differs = wording.count(len(rank.differences), "difference")
    serious = sum(difference.serious for difference in rank.differences)
    told = same or f"{differs} to other ranks" + (f", {serious} may hang" if serious else "")
    return f"rank {rank.rank} of {rank.size}, {rank.backend} on {rank.device}: {told}"


def differences(report: Report) -> list[RankDifference]:
    """What differs from other ranks, what may hang first."""
    found = report.rank.differences if report.rank is not None else []
    return sorted(found, key=lambda one: not one.serious)


def lines(report: Report, most: int) -> list[str]:
    """Return the first differences from other ranks and the first collectives, a line each."""
    rank = report.rank
    if rank is None:
        return []
    calls = rank.collectives
    left_out = len(calls) - most
    return [
        *(difference_line(difference, rank.rank) for difference in differences(report)[:most]),
        *(f"{call.variant}: {collective_line(call)}" for call in calls[:most]),
        *([f"and {wording.count(left_out, 'more collective')}"] if left_out > 0 else []),
    ]


def difference_line(one: RankDifference, rank: int) -> str:
    """A difference in a sentence."""
    return f"{one.what}: {one.here} on rank {rank}, {one.there} on rank {one.other}. {one.why}"


def collective_line(one: Collective) -> str:
    """A collective in a sentence: ``all_reduce_ sum float32[16] in 0/0, line 34, waited for …``."""
    name = one.operator.split(".")[1] if "." in one.operator else one.operator
    shape = f"{one.dtype}[{', '.join(one.shape)}]" if one.dtype or one.shape else ""
    parts = [name, one.reduction, shape]
    if one.outside:
        parts.append(f"by torch.distributed, {one.direction}")
    else:
        parts.append(f"in {one.compilation} {one.direction}")
    told = " ".join(part for part in parts if part)
    if one.line is not None:
        told += f", line {one.line}"
    if one.waited is not None:
        told += f", waited for in line {one.waited}"
    if one.between is not None:
        told += f", {wording.count(one.between, 'kernel')} meanwhile"
    return told
