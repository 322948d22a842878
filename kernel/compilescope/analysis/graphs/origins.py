"""Finds the nodes of Dynamo's graph from which the nodes of later graphs come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from ...report import Graph, Node
from ...report.units import whole_number
from ...torch_api.trace.node_origins import NodeOrigins, NodesWithOrigins
from .provenance import read_mapping

_BEFORE_AOT = ("before_pre_grad", "pre_grad")
NO_ORIGINS = (
    "torch recorded no mapping from this stage's nodes to Dynamo's: a trace has one only for "
    "the graph after the post-grad passes, and only with provenance tracking."
)
NO_DYNAMO = "Dynamo's graph is missing, so nodes cannot be traced back to it."
SOME = (
    "{count} of {total} nodes have none: torch records no origin of what passes and write-backs "
    "add."
)
_NEEDLESS = ("placeholder", "output", "get_attr")


def find_origins(
    graphs: Mapping[str, Graph],
    collected: Callable[[str], Sequence[Node] | None],
    mapping: str | None = None,
) -> None:
    """Fill in ``origins`` of the nodes of every later stage than Dynamo's, and their modules.

    Parameters
    ----------
    graphs
        Stage → graph, in the order of the stages; changed in place.
    collected
        Returns, for a graph's text, the nodes that a live hook collected, with torch's metadata.
    mapping
        torch's node mappings of the forward or inference graph, in JSON: the source without a live
        hook.

    Notes
    -----
    Only torch's own records count: the call under which a node (or a backward node's forward node)
    was traced, the input of a placeholder, the node that a pass replaced, and torch's own table. A
    node that no pass changes keeps its name, operator and source line, and so its origins, from one
    graph to the next.
    """
    dynamo = graphs.get("dynamo")
    if dynamo is None:
        for graph in graphs.values():
            graph.absent["origins"] = NO_DYNAMO
        return
    table = read_mapping(mapping, "postToPre")
    finder = _Finder(dynamo, collected, table)
    for stage, graph in graphs.items():
        if stage != "dynamo":
            # Stages with the same text were read once and share their nodes.
            graph.nodes = [msgspec.structs.replace(node) for node in graph.nodes]
            finder.stage(stage, graph)
    if table:
        finder.back(graphs)
    for stage, graph in graphs.items():
        if stage != "dynamo":
            finder.finish(graph)


class _Finder:
    def __init__(
        self,
        dynamo: Graph,
        collected: Callable[[str], Sequence[Node] | None],
        table: Mapping[str, list[str]],
    ) -> None:
        self.collected = collected
        self.table = table
        self.first = {node.name: node for node in dynamo.nodes}
        node_origins, ids = self._recorded_origins(dynamo)
        self.by_calls: dict[tuple[str, ...], list[str]] = {}
        for name, origin in node_origins.items():
            if origin.calls:
                self.by_calls.setdefault(origin.calls, []).append(name)
        self.inputs = [
            node.name for node in dynamo.nodes if node.op == "placeholder" and "." not in node.name
        ]
        self.resolved: dict[tuple[int, str], list[str]] = {
            (graph, name): [name] for graph in ids for name in self.first
        }
        self.earlier: dict[object, list[str]] = {}

    def _recorded_origins(self, graph: Graph) -> tuple[Mapping[str, NodeOrigins], Iterable[int]]:
        nodes = self.collected(graph.text)
        return (
            (nodes.node_origins, nodes.graphs) if isinstance(nodes, NodesWithOrigins) else ({}, ())
        )

    def stage(self, stage: str, graph: Graph) -> None:
        """Fill in one stage; those before it must be there."""
        node_origins, ids = self._recorded_origins(graph)
        by_identity: dict[object, list[str]] = {}
        for node in graph.nodes:
            origins = self._origins_of(stage, node, node_origins.get(node.name))
            node.origins = origins
            if origins:
                by_identity[_identity(node)] = origins
                for number in ids:
                    self.resolved[number, node.name] = origins
        # A backward starts from the joint graph, not from the forward's later stages.
        self.earlier = {**self.earlier, **by_identity}

    def _origins_of(self, stage: str, node: Node, origin: NodeOrigins | None) -> list[str]:
        if stage in _BEFORE_AOT:
            same = self.first.get(node.name)
            if same is not None and same.target == node.target:
                return [node.name]
        if origin is not None:
            if origin.calls in self.by_calls:
                return list(self.by_calls[origin.calls])
            if origin.argument is not None and origin.argument < len(self.inputs):
                return [self.inputs[origin.argument]]
            for place in origin.past:
                if place in self.resolved:
                    return list(self.resolved[place])
        if stage == "post_grad" and node.name in self.table:
            return [name for name in self.table[node.name] if name in self.first]
        return list(self.earlier.get(_identity(node), ()))

    def back(self, graphs: Mapping[str, Graph]) -> None:
        """Copy origins from torch's table to the stages before the post-grad passes."""
        last = graphs.get("post_grad")
        last_origins = {_identity(node): node.origins for node in last.nodes} if last else {}
        for stage, graph in graphs.items():
            if stage in ("dynamo", "post_grad") or stage.startswith("backward"):
                continue
            for node in graph.nodes:
                node.origins = node.origins or list(last_origins.get(_identity(node), ()))

    def finish(self, graph: Graph) -> None:
        """Add the modules that origins agree on; note what is missing."""
        nodes = [node for node in graph.nodes if node.op not in _NEEDLESS]
        missing = sum(not node.origins for node in nodes)
        if nodes and missing == len(nodes):
            graph.absent["origins"] = NO_ORIGINS
        elif missing:
            graph.absent["origins"] = SOME.format(
                count=whole_number(missing), total=whole_number(len(nodes))
            )
        for node in graph.nodes:
            if node.module is None and node.origins:
                owners = [self.first[name] for name in node.origins if name in self.first]
                modules = {(owner.module, owner.module_type) for owner in owners}
                if len(modules) == 1:
                    ((node.module, node.module_type),) = modules


def _identity(node: Node) -> object:
    """The properties of a node that stay the same while no pass changes it."""
    return node.name, node.target, node.sources[-1] if node.sources else None
