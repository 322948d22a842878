"""Which nodes of the graph each kernel computes, of those that torch names for it."""

from __future__ import annotations

from collections.abc import Sequence

from ....report import Kernel, Node
from .kernel_graph import KernelGraph
from .work import Traffic


def computed_nodes(graph: KernelGraph) -> list[list[str]]:
    """The nodes that each of the graph's kernels computes.

    torch also names for a kernel the library calls whose inputs it prepares, and for a library call
    what computes its inputs.
    """
    traffic, library = graph.traffic(), graph.library_nodes()
    return [_computed(kernel, graph, traffic, library) for kernel in graph.kernels]


def add_operators(
    kernels: Sequence[Kernel], computed: Sequence[Sequence[str]], nodes: Sequence[Node]
) -> None:
    """Fill in ``ops`` of kernels that torch recorded nodes for, from those that they compute."""
    by_name = {node.name: node for node in nodes}
    for kernel, names in zip(kernels, computed, strict=True):
        if any(name in by_name for name in kernel.nodes):
            calls = [by_name[name] for name in names if by_name[name].op.startswith("call")]
            kernel.ops = list(
                dict.fromkeys(node.target.removeprefix("torch.ops.") for node in calls)
            )


def _computed(kernel: Kernel, graph: KernelGraph, traffic: Traffic, library: set[str]) -> list[str]:
    names: list[str] = []
    for launch in kernel.launches:
        named = graph.named(launch.key)
        if kernel.language == "extern":
            names += traffic.called(named, kernel.name)
        else:
            inside = set(traffic.computed(named, library))
            names += [name for name in named if traffic.owner(name) in inside]
    # A part of a node has the node's name, followed by what it is.
    return list(dict.fromkeys(name.partition(" ")[0] for name in names))
