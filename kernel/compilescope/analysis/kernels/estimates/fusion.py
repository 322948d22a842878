"""What is fused into each kernel, and how many bytes the fusion saves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....report import Fusion, Kernel, Node
from ...graphs.operation_counts import is_product, operator_name
from ...text.sizes import UnknownSize
from .kernel_graph import KernelGraph
from .work import Traffic

ALONE = "It has a single operator, so no intermediate result stays inside the kernel."
BETWEEN = "It has a single operator between extern kernels, and Inductor fuses nothing into those."
UNMAPPED = "torch does not record which operators it computes."
LIBRARY = "It is an extern kernel, and Inductor fuses nothing into those."
NO_OPERATOR = "It computes no operator, only changes a layout."
LAYOUT = "layout"
"""A kernel that computes nothing: it copies a value into other strides."""
FOREACH = "foreach"
"""A kernel of foreach operators, or of several small kernels."""
_HEURISTIC = re.compile(r"@triton_heuristics\.(\w+)\(")
_KINDS = {
    "pointwise": "pointwise",
    "reduction": "reduction",
    "persistent_reduction": "persistent reduction",
    "cooperative_reduction": "cooperative reduction",
    "split_scan": "scan",
    "template": "template",
    "foreach": FOREACH,
    "user_autotune": "written by the user",
    "fixed_config": "fixed configuration",
}
_TEMPLATE = re.compile(
    r"micro_gemm|cpp_CppMicro|\bkernel_micro_|_mha_mul_softmax|M_blocks|Mt_blocks"
)
_NAMELESS = re.compile(r"_fused_\d+$")
"""The name of a kernel that computes no operator."""
_COMBINED = ("foreach", "combo")


def add_fusions(graph: KernelGraph) -> None:
    """Fill in ``fusion`` of the kernels of one graph.

    Notes
    -----
    The saving is the traffic of the kernel's operators as separate kernels, minus the kernel's own
    traffic: intermediate values are neither written nor read, and an input that several operators
    use is read once.
    """
    external = graph.library_nodes
    fused = graph.traffic()
    single = graph.traffic_unfused()
    libraries = _products(external, fused)
    for kernel in graph.kernels:
        if kernel.language == "extern":
            kernel.fusion = Fusion(nodes=1, saved_bytes=0.0, kind="library call", why=LIBRARY)
            continue
        fusion = Fusion(kind=kind_of(kernel))
        for launch in kernel.launches[:1]:
            named = graph.named(launch.key)
            is_named = not _NAMELESS.search(kernel.name) or fusion.kind == FOREACH
            if not named and is_named:
                kernel.absent["fusion"] = UNMAPPED
                continue
            computed = fused.computed(named, external)
            _fill(fusion, computed, fused, single, libraries)
            if not fusion.nodes:
                fusion.kind, fusion.why = LAYOUT, NO_OPERATOR
        if "fusion" not in kernel.absent:
            kernel.fusion = fusion


def kind_of(kernel: Kernel) -> str:
    """What sort of kernel it is, by its source."""
    if kernel.language == "triton":
        match = _HEURISTIC.search(kernel.source)
        if any(word in kernel.name for word in _COMBINED):
            return FOREACH
        return _KINDS.get(match.group(1), match.group(1).replace("_", " ")) if match else ""
    if kernel.language != "cpp" or not kernel.source:
        return ""
    if _TEMPLATE.search(kernel.source):
        return "template"
    return "reduction" if "tmp_acc" in kernel.source else "pointwise"


def _fill(
    fusion: Fusion, names: Sequence[str], fused: Traffic, single: Traffic, libraries: set[str]
) -> None:
    inside = frozenset(names)
    work = [name for name in names if fused.nodes[name].op.startswith("call")]
    work = [name for name in work if not fused.is_view(fused.nodes[name])]
    fusion.nodes = len(work)
    fusion.saved = [
        name
        for name in work
        if not operator_name(fused.nodes[name].target).endswith("_")
        and not any(
            fused.leaves(result, inside) or fused.is_copied_back(result)
            for result in fused.results(fused.nodes[name])
        )
    ]
    try:
        parts = {name: fused.part_bytes(name, inside) for name in work}
        alone = sum(part or single.bytes_of([name]) for name, part in parts.items())
        fusion.saved_bytes = float(max(alone - fused.bytes_of(names), 0)) if work else None
    except UnknownSize as reason:
        fusion.why = str(reason)
        return
    if len(work) == 1:
        node = fused.nodes[work[0]]
        neighbors = {*node.inputs, *node.users}
        computed = {
            neighbor
            for neighbor in neighbors
            if fused.nodes.get(neighbor) and _computes(fused.nodes[neighbor])
        }
        fusion.why = BETWEEN if computed and computed <= libraries else ALONE


def _computes(node: Node) -> bool:
    return node.op.startswith("call")


def _products(external: frozenset[str], graph: Traffic) -> set[str]:
    return {
        name for name in external if name in graph.nodes and is_product(graph.nodes[name].target)
    }
