"""A variant's use of CUDA graphs in words: for the panel, saved files, a cell and a terminal."""

from __future__ import annotations

from ...report.compilation.cuda_graphs import CudaGraphs, Partition
from ...report.units import size
from ..figures.wording import count

_OUTCOMES = {
    "captured": "captured",
    "partly": "captured in part",
    "skipped": "not captured",
    "not asked": "not requested",
    "no GPU": "no GPU",
    "unknown": "unknown",
}


def add_graph_words(graphs: CudaGraphs) -> None:
    """Fill `CudaGraphs.words`, `CudaGraphs.counts` and `Partition.words`."""
    graphs.words = outcome_words(graphs)
    graphs.counts = counts_words(graphs)
    for part in graphs.partitions:
        part.words = partition_words(part)


def outcome_words(graphs: CudaGraphs) -> str:
    """Return the outcome: ``captured in part``, or ``would be captured`` if it is a prediction."""
    is_predicted = graphs.calls == 0 and graphs.outcome in ("captured", "partly")
    return ("would be " if is_predicted else "") + _OUTCOMES[graphs.outcome]


def counts_words(graphs: CudaGraphs) -> str:
    """Return how often graphs were recorded and replayed; empty if nothing was counted."""
    if graphs.calls == 0:
        return ""
    pool = "" if graphs.memory_bytes is None else f"; memory pool: {size(graphs.memory_bytes)}"
    return (
        f"in {count(graphs.calls, 'call')}: {graphs.captured} recorded, "
        f"{graphs.replayed} replayed, {graphs.re_recorded} recorded again{pool}"
    )


def partition_words(part: Partition) -> str:
    """Return whether a partition is captured, and its launches: ``captured, 3 launches``."""
    captured = "captured" if part.captured else "not captured"
    return f"{captured}, {count(part.kernels, 'launch', 'launches')}"
