"""Packs graphs: stores each stack of source lines once, and in a file each graph once.

A model's layers share their lines: a thousand nodes have about thirty different stacks. Written out
at every node they are three quarters of a report's JSON. Variants that differ in their wrapper
share their graphs: one capture serves both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ..compilation.artifacts import Compilation
from ..compilation.graphs import Graph, Node
from ..problem import SourceLine


def pack(graph: Graph) -> Graph:
    """A copy whose nodes have the index of their stack in `Graph.stacks`."""
    places: dict[tuple[SourceLine, ...], int] = {}
    nodes = [
        msgspec.structs.replace(
            node, sources=[], stack=places.setdefault(tuple(node.sources), len(places))
        )
        if node.sources
        else node
        for node in graph.nodes
    ]
    return msgspec.structs.replace(graph, nodes=nodes, stacks=[list(stack) for stack in places])


def unpack(graph: Graph) -> None:
    """Restore every node's stack in place. An index out of range gives no stack."""
    stacks = dict(enumerate(graph.stacks))
    for node in graph.nodes:
        if node.stack is not None:
            node.sources = list(stacks.get(node.stack, []))
            node.stack = None
    graph.stacks = []


class _StoredNode(Node, kw_only=True, omit_defaults=True):
    """A node in a file: half of its fields have their defaults, and readers fill them in."""


Compilations = Iterable[tuple[str, list[Compilation]]]
"""The variants' names and compilations."""


def pack_compilations(variants: Compilations) -> Iterator[list[Compilation]]:
    """Copies, by variant, whose graphs refer to an equal earlier graph."""
    graphs_by_id: dict[str, dict[tuple[str, str], Graph]] = {}
    for variant, compilations in variants:
        packed = []
        for compilation in compilations:
            places = graphs_by_id.setdefault(compilation.id, {})
            graphs = {}
            for stage, graph in compilation.graphs.items():
                place = next((at for at, other in places.items() if _is_same(other, graph)), None)
                # If two compilations have the same id, unpacking finds the first.
                if place is None or (variant, stage) in places:
                    places.setdefault((variant, stage), graph)
                    graphs[stage] = _stored(pack(graph))
                else:
                    graphs[stage] = Graph(stage=graph.stage, text="", same_as=place)
            packed.append(msgspec.structs.replace(compilation, graphs=graphs))
        yield packed


def unpack_compilations(variants: Compilations) -> None:
    """Restore every variant's graphs in place. A reference to a missing graph gives none."""
    graphs_by_id: dict[str, dict[tuple[str, str], Graph]] = {}
    for variant, compilations in variants:
        for compilation in compilations:
            places = graphs_by_id.setdefault(compilation.id, {})
            for stage, graph in compilation.graphs.items():
                if graph.same_as is None:
                    unpack(graph)
                    places.setdefault((variant, stage), graph)
                else:
                    owned = places.get(graph.same_as) or Graph(stage="", text="")
                    compilation.graphs[stage] = msgspec.structs.replace(owned, stage=graph.stage)


def _stored(graph: Graph) -> Graph:
    nodes: list[Node] = [_StoredNode(**msgspec.structs.asdict(node)) for node in graph.nodes]
    return msgspec.structs.replace(graph, nodes=nodes)


def _is_same(graph: Graph, other: Graph) -> bool:
    """Whether two graphs are equal except for the name of their stage."""
    return graph.text == other.text and graph.absent == other.absent and graph.nodes == other.nodes
