"""Determines a variant's use of CUDA graphs from torch's logs, counts and rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ...capture.records import Record
from ...report import Compilation, Node
from ...report.compilation.cuda_graphs import CudaGraphs, Partition, Skip
from ...report.variant import Variant
from ...torch_api.trace.record_names import METRICS
from ..wrapper.crossings import device_of
from ..wrapper.partitions import read_partitions
from .cuda_graph_reasons import PARTS, read_skip
from .cuda_graph_words import add_graph_words

SETTING = "triton.cudagraphs"
PARTITION = "graph_partition"
_BACKEND = "cudagraphs"
_NO_GPU = "CUDA graphs record launches on a GPU, and this runs on the CPU."
_BY_RULE = "Predicted from the code by torch's rules: nothing ran here."
_COUNTED = "Counted while the built variant was called."
_IN_PARTS = (
    "Move that to the GPU; or use the Python wrapper with graph_partition, which captures the "
    "parts around it."
)
_STATIC = ("_parameters_", "_buffers_", "parameters", "buffers")


class LoggedSkip(NamedTuple):
    """Torch's reason for skipping CUDA graphs."""

    reason: str
    compilation: str = ""
    """The report's compile id, if known."""


class Counted(Protocol):
    """Counts of recordings and replays."""

    warmed: int
    recorded: int
    replayed: int
    re_recorded: int
    reasons: list[str]
    skips: list[Any]

    def memory_bytes(self) -> float | None:
        """The size of the memory pools."""


def cuda_graphs_of(
    variant: Variant,
    compilations: Sequence[Compilation],
    settings: Mapping[str, Any],
    logged_skips: Sequence[LoggedSkip],
    records: Sequence[Record] = (),
) -> CudaGraphs | None:
    """Predicts the use of CUDA graphs from the code and torch's logs.

    Parameters
    ----------
    settings
        Inductor's in force, by name.
    logged_skips
        torch's log messages during compilation.
    records
        The records of the compilations: torch's metrics contain a reason too.

    Returns
    -------
    CudaGraphs or None
        None if they were not requested and there is no GPU.
    """
    if not compilations or variant.backend is None:
        return None
    device = next(
        (kind for compilation in compilations if (kind := device_of(compilation)) != "cpu"), "cpu"
    )
    if not settings.get(SETTING) and variant.backend != _BACKEND:
        if device == "cpu":
            return None
        return _with_words(
            CudaGraphs(outcome="not asked", why='mode="reduce-overhead" asks for them.')
        )
    if device == "cpu":
        return _with_words(CudaGraphs(outcome="no GPU", why=_NO_GPU))
    skips = _skips([*logged_skips, *_in_metrics(records)])
    if not skips and variant.cpp_wrapper and settings.get(PARTITION):
        skips = [read_skip("the C++ wrapper does not support graph partition")]
    if not skips:
        skips = [
            skip
            for compilation in compilations
            if (skip := _changed_in_place(compilation)) is not None
        ]
    for skip in skips:
        if variant.cpp_wrapper and skip.setting == PARTS:
            # Otherwise torch would drop it for another reason.
            skip.remedy, skip.setting = _IN_PARTS, ""
    partitions: list[Partition] = []
    for compilation in compilations:
        why = next((s.reason for s in skips if s.compilation in ("", compilation.id)), "")
        partitions += read_partitions(compilation, why)
    cuda_graphs = CudaGraphs(skips=skips, partitions=partitions, how=_BY_RULE)
    _conclude(cuda_graphs)
    return _with_words(cuda_graphs)


def add_counts(graphs: CudaGraphs, counted: Counted, *, calls: int) -> None:
    """Adds the counts of a built variant, and their consequences.

    Parameters
    ----------
    graphs
        From `cuda_graphs_of`; completed in place.
    calls
        The number of calls of the subject.
    """
    if graphs.outcome in ("not asked", "no GPU"):
        return
    graphs.captured, graphs.replayed = counted.recorded, counted.replayed
    graphs.re_recorded, graphs.calls = counted.re_recorded, calls
    graphs.memory_bytes = counted.memory_bytes()
    reasons = {skip.reason for skip in graphs.skips}
    for counted_skip in counted.skips:
        skip = read_skip(counted_skip.reason)
        if skip.reason not in reasons:
            reasons.add(skip.reason)
            graphs.skips.append(skip)
    if counted.recorded:
        # The prediction was wrong.
        graphs.skips = [
            skip for skip in graphs.skips if not skip.reason.startswith(_MUTATED_INPUTS)
        ]
        for part in graphs.partitions:
            if part.why.startswith(_MUTATED_INPUTS):
                part.captured, part.why = True, ""
    elif graphs.skips:
        for part in graphs.partitions:
            part.captured, part.why = False, part.why or graphs.skips[0].reason
    graphs.how = _COUNTED
    _conclude(graphs)
    if not counted.recorded and graphs.outcome == "captured":
        graphs.outcome, graphs.why = "unknown", "None was recorded, and torch gave no reason."
    if counted.re_recorded:
        causes = ", ".join(counted.reasons)
        explained = f"{graphs.why} {counted.re_recorded} recorded again: {causes}."
        graphs.why = explained.strip()
    add_graph_words(graphs)


def _with_words(graphs: CudaGraphs) -> CudaGraphs:
    add_graph_words(graphs)
    return graphs


def _conclude(graphs: CudaGraphs) -> None:
    captured = [part for part in graphs.partitions if part.captured]
    if len(captured) == len(graphs.partitions) and captured:
        graphs.outcome, graphs.why = "captured", ""
    elif captured:
        outside = next(part for part in graphs.partitions if not part.captured)
        graphs.outcome = "partly"
        graphs.why = f"{outside.name} of {outside.compilation}: {outside.why}"
    elif graphs.partitions or graphs.skips:
        graphs.outcome = "skipped"
        graphs.why = graphs.skips[0].reason if graphs.skips else "There is nothing to capture."


_MUTATED_INPUTS = "mutated inputs"


def _skips(logged_skips: Sequence[LoggedSkip]) -> list[Skip]:
    skips: list[Skip] = []
    for logged in logged_skips:
        skip = read_skip(logged.reason, logged.compilation)
        same = [s for s in skips if s.reason == skip.reason]
        # torch may log it twice, once without the compile id.
        if not any(s.compilation == skip.compilation or not skip.compilation for s in same):
            skips.append(skip)
    return skips


def _in_metrics(records: Sequence[Record]) -> Iterator[LoggedSkip]:
    for record in records:
        if record.event in METRICS:
            detail = record.metadata.get(record.event)
            reason = detail.get("cudagraph_skip_reason") if isinstance(detail, dict) else None
            if reason:
                yield LoggedSkip(str(reason), record.compile_id or "")


def _changed_in_place(compilation: Compilation) -> Skip | None:
    """An input that is mutated and may be another tensor next time; torch checks this at a call."""
    graph = compilation.graphs.get("post_grad")
    if graph is None:
        return None
    inputs = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    changed = [
        node
        for node in graph.nodes
        if node.target.startswith("torch.ops.aten.copy_")
        and (argument := _first(node)) in inputs
        and not _is_static(inputs[argument])
    ]
    if not changed:
        return None
    skip = read_skip(f"{_MUTATED_INPUTS} ({len(changed)} instances)", compilation.id)
    skip.where = changed[0].sources[-1] if changed[0].sources else None
    return skip


def _first(node: Node) -> str:
    return node.inputs[0] if node.inputs else ""


def _is_static(node: Node) -> bool:
    """Whether a graph's input is a parameter or buffer, which torch assumes to be static."""
    names = [node.name, *node.origins]
    return any(word in name for name in names for word in _STATIC)
