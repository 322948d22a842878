"""A compilation's launches: the code that contains them, and what they compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...report import Code, Compilation, Kernel, Launch, Node, WrapperLanguage
from ..graphs.operation_counts import is_product


def codes_of(compilation: Compilation) -> Iterator[Code]:
    """The code of each of a compilation's graphs."""
    pending: list[Code] = [compilation.code]
    while pending:
        code = pending.pop(0)
        yield code
        pending += code.others + ([code.backward] if code.backward else [])


def nodes_of(compilation: Compilation) -> dict[str, dict[str, Node]]:
    """The name of a graph, as in keys → its nodes. Further graphs of a direction have none."""
    stages = {"inference": "post_grad", "forward": "post_grad", "backward": "backward_post_grad"}
    return {
        name: {node.name: node for node in compilation.graphs[stage].nodes}
        for name, stage in stages.items()
        if stage in compilation.graphs
    }


def artifact_of(compilation: Compilation) -> WrapperLanguage:
    """The kind of wrapper of a variant's own compilation."""
    codes = list(codes_of(compilation))
    has_python = any(code.python is not None for code in codes)
    return "cpp" if not has_python and any(code.cpp is not None for code in codes) else "python"


def launches_of(compilation: Compilation) -> Iterator[tuple[Kernel, Launch]]:
    """Each launch once: a variant's kernels may list those of its partner's wrapper too."""
    artifact = artifact_of(compilation)
    for kernel in compilation.kernels:
        for launch in kernel.launches:
            if launch.artifact == artifact:
                yield kernel, launch


def groups_of(compilation: Compilation, artifact: WrapperLanguage) -> dict[str, list[str]]:
    """Key of a launch → the nodes that it computes."""
    return {
        region.key: region.nodes
        for code in codes_of(compilation)
        for region in code.regions.get(artifact, ())
        if region.kind == "launch"
    }


@dataclass
class Meaning:
    """The meaning of a launch, from its nodes."""

    device: str
    dtype: str
    product: bool


def _dtype(node: Node, nodes: Mapping[str, Node]) -> str:
    """The type in which a node computes; that of the first input if the result is a tuple."""
    inputs = (nodes[name].dtype for name in node.inputs if name in nodes)
    return node.dtype or next(filter(None, inputs), "")


def meaning_of(names: Sequence[str], nodes: Mapping[str, Node], device: str) -> Meaning:
    """The meaning of a launch of these nodes.

    Parameters
    ----------
    device
        The device of launches whose nodes do not have one.
    """
    graph_nodes = [nodes[name] for name in names if name in nodes]
    products = [node for node in graph_nodes if is_product(node.target)]
    types = [_dtype(node, nodes) for node in products or graph_nodes]
    types = [dtype for dtype in types if "float" in dtype]
    devices = [node.device for node in graph_nodes if node.device]
    return Meaning(
        device=Counter(devices).most_common(1)[0][0] if devices else device,
        dtype=Counter(types).most_common(1)[0][0] if types else "",
        product=bool(products),
    )
