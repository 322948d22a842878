"""What becomes of a variant's CUDA graphs: foreseen from its code, and counted once it is built."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..analysis.settings.cuda_graphs import Said, add_counts, cuda_graphs_of
from ..analysis.settings.effective import CUDA_GRAPHS, cuda_graphs_row
from ..capture.records import Record
from ..report import Compilation, Effective
from ..report.compilation.cuda_graphs import CudaGraphs
from ..report.variant import Variant
from ..torch_api.dynamo import compile_variant
from ..torch_api.inductor import inductor_warnings
from ..torch_api.inductor.cuda_graphs import Counts, CudaGraphSkip

MORE_CALLS = 3
"""After the first, which warms up: one records, and the others replay or record again."""


def foresee(
    variant: Variant,
    compilations: Sequence[Compilation],
    heard: Sequence[CudaGraphSkip],
    ids: Mapping[str, str],
    records: Sequence[Record],
) -> CudaGraphs | None:
    """What the code and torch's words tell.

    Parameters
    ----------
    heard
        With compile ids as torch counts them.
    ids
        Those → the report's.
    """
    inductor = variant.backend == "inductor"
    settings = inductor_warnings.in_force(compile_variant.settings_of(variant)) if inductor else {}
    said = [
        Said(cuda_graph_skip.reason, ids.get(cuda_graph_skip.compile_id, ""))
        for cuda_graph_skip in heard
    ]
    return cuda_graphs_of(variant, compilations, settings, said, records)


def may_record(found: CudaGraphs | None) -> bool:
    """Whether a build may have CUDA graphs to count."""
    return found is not None and found.outcome not in ("not asked", "no GPU")


def count(
    found: CudaGraphs,
    told: list[Effective],
    counts: Counts,
    call: Callable[[], Any],
    restore: Callable[[], None],
) -> None:
    """Calls a build some more times, while ``counts`` counts, and says what came of it.

    Parameters
    ----------
    found, told
        The variant's; completed in place.
    counts
        That counted the first call already.
    call
        Calls the subject, with its backward.
    restore
        Puts its state back.
    """
    for _ in range(MORE_CALLS):
        call()
        restore()
    add_counts(found, counts, calls=1 + MORE_CALLS)
    told[:] = [
        row if one.setting == CUDA_GRAPHS else one
        for one in told
        for row in (list(cuda_graphs_row(found)) or [one])
    ]
