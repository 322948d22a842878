"""The outcome of a variant's CUDA graphs: predicted from its code, counted once it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..analysis.settings.cuda_graphs import LoggedSkip, add_counts, cuda_graphs_of
from ..analysis.settings.effective import cuda_graphs_row
from ..capture.records import Record
from ..report import Compilation, VariantReport
from ..report.compilation.cuda_graphs import CudaGraphs
from ..report.variant import CUDA_GRAPHS, Variant
from ..torch_api.dynamo import compile_variant
from ..torch_api.inductor import inductor_warnings
from ..torch_api.inductor.cuda_graphs import Counts, CudaGraphSkip

MORE_CALLS = 3
"""Calls after the warm-up call: one records, the others replay or record again."""


def predict_outcome(
    variant: Variant,
    compilations: Sequence[Compilation],
    skips: Sequence[CudaGraphSkip],
    ids: Mapping[str, str],
    records: Sequence[Record],
) -> CudaGraphs | None:
    """Predict the outcome from the code and from torch's messages.

    Parameters
    ----------
    skips
        The skipped CUDA graphs, with torch's compile ids.
    ids
        torch's compile ids → the report's.
    """
    inductor = variant.uses_inductor
    settings = inductor_warnings.in_force(compile_variant.settings_of(variant)) if inductor else {}
    reasons = [
        LoggedSkip(cuda_graph_skip.reason, ids.get(cuda_graph_skip.compile_id, ""))
        for cuda_graph_skip in skips
    ]
    return cuda_graphs_of(variant, compilations, settings, reasons, records)


def may_record(graphs: CudaGraphs | None) -> bool:
    """Whether a build may have CUDA graphs to count."""
    return graphs is not None and graphs.outcome not in ("not asked", "no GPU")


def count(
    graphs: CudaGraphs,
    report: VariantReport,
    counts: Counts,
    call: Callable[[], Any],
    restore: Callable[[], None],
) -> None:
    """Calls a build some more times while ``counts`` counts, and adds the outcome.

    Parameters
    ----------
    graphs, report
        The variant's; completed in place.
    counts
        The counts so far, of the first call.
    call
        Calls the subject, with its backward.
    restore
        Restores the subject's state.
    """
    for _ in range(MORE_CALLS):
        call()
        restore()
    add_counts(graphs, counts, calls=1 + MORE_CALLS)
    report.effective = [
        row if row_before.setting == CUDA_GRAPHS else row_before
        for row_before in report.effective
        for row in (list(cuda_graphs_row(graphs, report.requested)) or [row_before])
    ]
