"""Graphs as they travel: each stack of source lines once.

A model's layers share their lines: of a thousand nodes, thirty stacks are different. Written out at
every node they are three quarters of a report's JSON.
"""

from __future__ import annotations

import msgspec

from ..artifacts import Graph
from ..problem import SourceLine


def pack(graph: Graph) -> Graph:
    """A copy whose nodes name their stack's place in `Graph.stacks`."""
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
    """Give every node its stack again, in place. A place that is not there is no stack."""
    stacks = dict(enumerate(graph.stacks))
    for node in graph.nodes:
        if node.stack is not None:
            node.sources = list(stacks.get(node.stack, []))
            node.stack = None
    graph.stacks = []
