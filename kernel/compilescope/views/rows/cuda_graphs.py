"""The use of CUDA graphs by each variant, in sentences: the same in text and HTML."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.settings.cuda_graph_words import counts_words, outcome_words, partition_words
from ...report import CudaGraphs, Report, VariantReport


def graphed(report: Report) -> Iterator[tuple[VariantReport, CudaGraphs]]:
    """Yield the variants that requested CUDA graphs."""
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
