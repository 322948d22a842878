"""The buffers that a wrapper's variables hold after each write."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence

from ...torch_api.targets.described_graphs import LoweredBuffer, LoweredGraph, Shape


def writes(graph: LoweredGraph) -> dict[str, list[LoweredBuffer]]:
    """Variable → the buffer after each write, in order; its node is empty if it holds no node."""
    order = {node.name: place for place, node in enumerate(graph.nodes)}
    shapes = {node.name: node.value for node in graph.nodes if isinstance(node.value, Shape)}
    by_variable: dict[str, list[LoweredBuffer]] = {}
    buffers = list(graph.buffers.values())
    for buffer in buffers:
        if not buffer.mutates:
            by_variable.setdefault(buffer.name, []).append(buffer)
    for buffer in buffers:
        if not buffer.mutates:
            continue
        node = buffer.node or last(buffer.origins, order)
        earlier = by_variable.setdefault(_written(buffer, graph), [])
        for place, lowered_buffer in enumerate(earlier):
            # A copy that is written to later has the name of the final result.
            if lowered_buffer.node and lowered_buffer.node in buffer.origins:
                node = lowered_buffer.node
                earlier[place] = dataclasses.replace(lowered_buffer, node="")
        earlier.append(dataclasses.replace(buffer, node=node))
    return {name: [_fitting(turn, shapes) for turn in turns] for name, turns in by_variable.items()}


def last(names: Sequence[str], order: Mapping[str, int]) -> str:
    """The node that stands last in the graph; empty for none."""
    in_graph = [name for name in names if name in order]
    return max(in_graph, key=order.__getitem__) if in_graph else ""


def _written(buffer: LoweredBuffer, graph: LoweredGraph) -> str:
    """The variable that a buffer is written into."""
    name = buffer.mutates
    while name in graph.buffers and graph.buffers[name].mutates:
        name = graph.buffers[name].mutates
    return name


def _fitting(buffer: LoweredBuffer, shapes: Mapping[str, Shape]) -> LoweredBuffer:
    """Without its node where that has another number of elements."""
    node, shape = shapes.get(buffer.node), buffer.shape
    if node is None or (shape is not None and math.prod(node.size) != math.prod(shape.size)):
        return dataclasses.replace(buffer, node="")
    return buffer
