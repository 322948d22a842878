"""Which nodes of the graph each kernel computes, of those that torch names for it."""

from __future__ import annotations

from collections.abc import Sequence

from ....report import Kernel, Node
from .kernel_graph import KernelGraph
from .work import Traffic


def add_operators(graph: KernelGraph, nodes: Sequence[Node]) -> list[list[str]]:
    """Fill in ``ops`` of the graph's kernels from the nodes that they compute, and return these.

    torch also names for a kernel the library calls whose inputs it prepares, and for a library call
    what computes its inputs. A kernel whose launches have no nodes keeps what it has.

    Parameters
    ----------
    nodes
        The graph's whole nodes, after the post-grad passes.
    """
    traffic, library = graph.traffic(), graph.library_nodes
    by_name = {node.name: node for node in nodes}
    computed = []
    for kernel in graph.kernels:
        if not any(graph.named(launch.key) for launch in kernel.launches):
            computed.append(list(kernel.nodes))
            continue
        names = _computed(kernel, graph, traffic, library)
        calls = [by_name[name] for name in names if by_name[name].op.startswith("call")]
        kernel.ops = list(dict.fromkeys(node.target.removeprefix("torch.ops.") for node in calls))
        computed.append(names)
    return computed


def _computed(
    kernel: Kernel, graph: KernelGraph, traffic: Traffic, library: frozenset[str]
) -> list[str]:
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
