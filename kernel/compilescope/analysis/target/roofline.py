"""Estimates the least time of a call on a missing device: a roofline model per launch.

The estimate of a launch is the longer of two times: its bytes at the device's bandwidth, and its
operations at the peak rate of their dtype. The processor's launch overhead is summed separately.
Everything is computed from the graph's shapes and the catalog's figures. Nothing is measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...report import Compilation, Estimate, Kernel, Launch, Node, WrapperLanguage
from ...report.devices import Device
from ...report.variant import CUDA_GRAPH_MODES, Variant
from ..graphs.causal_attention import is_causal
from ..graphs.operation_counts import is_product
from ..kernels.estimates.estimates import DIFFERENT
from ..kernels.launch_times import add_launch_times
from ..kernels.rates import rate_of, specified
from ..text.brackets import split_list
from ..text.sizes import BYTES
from ..wrapper.launches import (
    artifact_of,
    codes_of,
    groups_of,
    launches_of,
    meaning_of,
    nodes_of,
)

LAUNCH_US: dict[WrapperLanguage, float] = {"python": 11.0, "cpp": 8.0}
"""The processor's time to launch one kernel, by wrapper. Measured on the host of an H200 with torch
2.11: the time that each launch of a twelve-layer MLP adds to a host-bound call. See
docs/targets.md."""
REPLAY_US = 35.0
"""The time to launch all kernels of a graph as one CUDA graph, including copies of its inputs;
measured in the same way."""
_MAX_UNKNOWN_SHARE = 0.5
"""The share of launches that may lack an estimate while the call still gets one."""
_NOT_THERE = "Its nodes are on the CPU, not on the target."
_NO_RATE = "The catalog has no rate for products of {} on {}."
_NOT_ALL = "What one of its launches reads, writes or computes is not known."
_FIELD = "estimated_us"
_CAUSAL = 0.5
"""The share of all pairs of positions that a causal attention needs."""
_MATRIX = 2


def estimate(
    compilations: Sequence[Compilation],
    device: Device,
    *,
    requested: Variant | None = None,
    tf32: bool = False,
) -> Estimate:
    """Estimates the time of a call with all these compilations, and of each launch.

    Parameters
    ----------
    compilations
        The compilations of one variant; the estimates of their launches are filled in. If a
        launch cannot be estimated, its kernel's ``absent`` says why.
    device
        The device that they were generated for.
    requested
        The variant's switches: CUDA graphs launch all kernels of a graph at once.
    tf32
        Whether float32 products may be rounded to TF32.
    """
    total = Estimate()
    starts = 0.0
    artifacts: set[WrapperLanguage] = set()
    for compilation in compilations:
        artifact = artifact_of(compilation)
        artifacts.add(artifact)
        _fill(compilation, artifact, device, tf32)
        counted = [launch for _, launch in launches_of(compilation)]
        for launch in counted:
            total.bytes += launch.estimated_bytes or 0.0
            total.operations += launch.estimated_operations or 0.0
            if launch.estimated_us is None:
                total.unknown += 1
            else:
                total.kernels_us += launch.estimated_us
        total.launches += len(counted)
        launching_us = (
            REPLAY_US * _graphs(compilation, artifact)
            if _replays(requested, artifact)
            else LAUNCH_US[artifact] * len(counted)
        )
        for launch in counted:
            launch.estimated_launch_us = launching_us / len(counted)
        starts += launching_us
    add_launch_times(compilations, device.name)
    total.launch_us = starts
    if total.launches and total.unknown <= _MAX_UNKNOWN_SHARE * total.launches:
        total.call_us = max(total.kernels_us, total.launch_us)
    skips = any(map(_has_causal_attention, compilations))
    total.how, total.figures = _HOW + (_SKIPS if skips else ""), _figures(device, tf32)
    total.overhead = _overhead(artifacts, requested)
    return total


def _fill(compilation: Compilation, artifact: WrapperLanguage, device: Device, tf32: bool) -> None:
    nodes, groups = nodes_of(compilation), groups_of(compilation, artifact)
    for kernel in compilation.kernels:
        reasons = []
        for launch in kernel.launches:
            parts = launch.key.split(":")
            graph_nodes = nodes.get(parts[1], {}) if len(parts) > 1 else {}
            launch.estimated_us, launch.estimated_bound = None, ""
            reason = _add_estimate(
                launch, kernel, groups.get(launch.key, ()), graph_nodes, device, tf32
            )
            if reason:
                reasons.append(reason)
        kernel.absent.pop(_FIELD, None)
        if reasons:
            kernel.absent[_FIELD] = reasons[0]


def _add_estimate(
    launch: Launch,
    kernel: Kernel,
    names: Sequence[str],
    nodes: Mapping[str, Node],
    device: Device,
    tf32: bool,
) -> str:
    """Fills in one launch's estimate; returns the reason if it has none."""
    meaning = meaning_of(names, nodes, "cuda")
    if kernel.language == "cpp" or meaning.device.startswith("cpu"):
        return _NOT_THERE
    for field in ("estimated_bytes", "estimated_operations"):
        if getattr(launch, field) is None:
            reason = kernel.absent.get(field, DIFFERENT)
            return _NOT_ALL if reason == DIFFERENT else reason
    moved, computed = launch.estimated_bytes or 0.0, launch.estimated_operations or 0.0
    if any(_may_be_causal(nodes[name]) for name in names if name in nodes):
        computed *= _CAUSAL
    dtype = _factor_dtype(names, nodes) if meaning.product else meaning.dtype
    peaks = specified("cuda", device)
    rate = rate_of(peaks, dtype, product=meaning.product, tf32=tf32)
    if rate is None and meaning.product and computed:
        return _NO_RATE.format(dtype or "an unknown type", device.name)
    memory_us = moved / device.bandwidth_bytes_per_s * 1e6
    # Integers outside of products have no rate in the catalog: they are memory-bound.
    compute_us = computed / rate * 1e6 if rate else 0.0
    launch.estimated_us = max(memory_us, compute_us)
    launch.estimated_bound = "compute" if compute_us > memory_us else "memory"
    return ""


def _factor_dtype(names: Sequence[str], nodes: Mapping[str, Node]) -> str:
    """The input type of products, which may be shorter than their result type.

    The shortest type of their matrices, without masks.
    """
    dtypes: list[str] = []
    for name in names:
        node = nodes.get(name)
        if node is None or not is_product(node.target):
            continue
        for input_name in node.inputs:
            other = nodes.get(input_name)
            if other is not None and len(other.shape or ()) >= _MATRIX and other.dtype in BYTES:
                dtypes.append(other.dtype)
    matrices = [dtype for dtype in dtypes if dtype != "bool"]
    return min(matrices, key=BYTES.__getitem__) if matrices else ""


def _has_causal_attention(compilation: Compilation) -> bool:
    return any(
        "attention" in node.target and _may_be_causal(node)
        for nodes in nodes_of(compilation).values()
        for node in nodes.values()
    )


def _may_be_causal(node: Node) -> bool:
    """Whether an attention may skip pairs of positions.

    Of an operator that is not known any flag that is true counts, since an estimate may be too low
    but not too high.
    """
    texts = split_list(node.args)
    known = is_causal(node.target, texts)
    return "attention" in node.target and "True" in texts if known is None else known


def _replays(requested: Variant | None, artifact: WrapperLanguage) -> bool:
    """Whether CUDA graphs launch the kernels. torch drops them under a C++ wrapper."""
    if requested is None or artifact == "cpp":
        return False
    requested_graphs = requested.options.get("triton.cudagraphs")
    return (
        bool(requested_graphs)
        if requested_graphs is not None
        else requested.mode in CUDA_GRAPH_MODES
    )


def _graphs(compilation: Compilation, artifact: WrapperLanguage) -> int:
    return sum(getattr(code, artifact) is not None for code in codes_of(compilation))


_HOW = (
    "Estimated, not measured: each launch at the device's bandwidth or at its peak rate of the "
    "launch's dtype, whichever takes longer."
)
_SKIPS = (
    " A causal attention skips half of its operations: the time leaves these out, the number of "
    "operations includes them."
)


def _figures(device: Device, tf32: bool) -> str:
    rates = "float32 products as TF32" if tf32 else "float32 products in float32"
    source = device.source
    return f"{device.name}: {source.title}, {source.date}; dense rates, {rates}."


def _overhead(artifacts: set[WrapperLanguage], requested: Variant | None) -> str:
    if any(_replays(requested, artifact) for artifact in artifacts):
        return f"Launch overhead: {REPLAY_US:g} µs a graph, replayed as a CUDA graph."
    overheads = " and ".join(
        f"{LAUNCH_US[artifact]:g} µs a launch from {_WRAPPERS[artifact]}"
        for artifact in sorted(artifacts)
    )
    return f"Launch overhead: {overheads}, as on the host of an H200." if overheads else ""


_WRAPPERS: dict[WrapperLanguage, str] = {"python": "Python", "cpp": "C++"}
