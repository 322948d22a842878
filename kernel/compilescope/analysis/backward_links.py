"""The links of a built backward, taken from its previously generated sources.

torch compiles a backward when gradients are requested, and then maps no kernel to its nodes;
`torch_api.inductor.backward_provenance` enables the mapping if the installed version allows it.
Generating the sources compiles the backward at once, with the mapping. If both have the same code,
the links of the sources apply to the build.
"""

from __future__ import annotations

import msgspec

from ..report import Code, Compilation, Kernel, Region
from .kernels.estimates.estimates import summarize

_STAGE = "backward_post_grad"


def complete(built: Compilation, sources: Compilation) -> None:
    """Add to a build's backward kernels and launches the nodes that its sources name.

    Nothing is taken where the graphs' nodes, the kernels' code or the order of the launches differ.
    """
    sources_code, built_code = sources.code.backward, built.code.backward
    if sources_code is None or built_code is None or _nodes(built) != _nodes(sources):
        return
    linked = {kernel.name: kernel for kernel in _backward(sources)}
    kernels = _backward(built)
    if {kernel.name: kernel.source for kernel in kernels} != {
        name: kernel.source for name, kernel in linked.items()
    }:
        return
    for artifact in built_code.regions:
        launches, other = _launches(built_code, artifact), _launches(sources_code, artifact)
        if [launch.kernel for launch in launches] != [region.kernel for region in other]:
            return
        for launch, same in zip(launches, other, strict=True):
            launch.nodes = launch.nodes or list(same.nodes)
            launch.sources = launch.sources or list(same.sources)
    for kernel in kernels:
        same_kernel = linked[kernel.name]
        if kernel.estimated_bytes is None and kernel.estimated_operations is None:
            _take_estimates(kernel, same_kernel)
        if kernel.fusion is None and same_kernel.fusion is not None:
            kernel.fusion = msgspec.structs.replace(same_kernel.fusion)
            kernel.absent.pop("fusion", None)
        if same_kernel.nodes:
            kernel.nodes, kernel.ops = list(same_kernel.nodes), list(same_kernel.ops)
            kernel.absent.pop("nodes", None)
        if same_kernel.sources and not kernel.sources:
            kernel.sources = list(same_kernel.sources)
            kernel.absent.pop("sources", None)


def _take_estimates(kernel: Kernel, linked: Kernel) -> None:
    for launch, same in zip(kernel.launches, linked.launches, strict=False):
        launch.estimated_bytes = same.estimated_bytes
        launch.estimated_operations = same.estimated_operations
    kernel.estimated_for = dict(linked.estimated_for)
    summarize(kernel)


def _nodes(compilation: Compilation) -> list[tuple[str, str]] | None:
    graph = compilation.graphs.get(_STAGE)
    return None if graph is None else [(node.name, node.target) for node in graph.nodes]


def _backward(compilation: Compilation) -> list[Kernel]:
    return [kernel for kernel in compilation.kernels if kernel.direction == "backward"]


def _launches(code: Code, artifact: str) -> list[Region]:
    return [region for region in code.regions.get(artifact, []) if region.kind == "launch"]
