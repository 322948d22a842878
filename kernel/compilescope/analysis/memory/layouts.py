"""Copies that only change strides, and strides that Inductor chose instead of the graph's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...report import Buffer, Compilation, Direction, LayoutChange, Memory, Node
from ..graphs.operation_counts import operator_name
from ..kernels.fusion import LAYOUT
from ..wrapper.launches import nodes_of

REQUESTED = "The program, or an operator's own code, asks for a copy with other strides."
PASS = "A graph pass inserted it."
NEEDED = "A separate kernel copies it: its next reader needs these strides."
CHOSEN = "Inductor chose these strides; the value has others in the graph. Nothing is copied."
_COPIES = frozenset(
    (
        "clone",
        "contiguous",
        "copy",
        "_to_copy",
        "inductor_force_stride_order",
        "require_stride_order",
    )
)


def find_layouts(compilation: Compilation) -> list[LayoutChange]:
    """The changes of layout in a compilation's graphs; `find_memory` and the kernels come first."""
    graphs = nodes_of(compilation)
    kernels = {
        name: kernel.name
        for kernel in compilation.kernels
        if kernel.language != "extern"
        for name in kernel.nodes
    }
    layout_changes: list[LayoutChange] = []
    for direction, nodes in graphs.items():
        layout_changes += _copies(direction, nodes, kernels)
    moving = {k.name for k in compilation.kernels if k.fusion and k.fusion.kind == LAYOUT}
    for memory in compilation.memory:
        nodes = graphs.get(memory.direction, {})
        layout_changes += _moved(memory, nodes, moving)
        layout_changes += _chosen(memory, nodes)
    return layout_changes


def _copies(
    direction: str, nodes: Mapping[str, Node], kernels: Mapping[str, str]
) -> Iterator[LayoutChange]:
    """Nodes of the graph that return their input with other strides."""
    for node in nodes.values():
        source = nodes.get(node.inputs[0]) if node.inputs else None
        if source is None or operator_name(node.target) not in _COPIES:
            continue
        same = node.shape == source.shape and node.dtype == source.dtype
        if same and node.stride and source.stride and node.stride != source.stride:
            yield LayoutChange(
                node=node.name,
                direction=_direction(direction),
                old=_text(source.stride),
                new=_text(node.stride),
                why=REQUESTED if node.origins else PASS,
                kernel=kernels.get(node.name, ""),
                sources=node.sources[-1:],
            )


def _moved(memory: Memory, nodes: Mapping[str, Node], moving: set[str]) -> Iterator[LayoutChange]:
    """The buffers of kernels that only copy an input or a buffer to other strides."""
    for buffer in memory.buffers:
        if buffer.kind == "input" or not memory.steps or memory.steps[buffer.born] not in moving:
            continue
        source = _same(buffer, memory)
        if source is None:
            continue
        node = nodes.get(source.name)
        yield LayoutChange(
            node=source.nodes[0] if source.nodes else source.name,
            direction=memory.direction,
            old=_text(source.stride),
            new=_text(buffer.stride),
            bytes=buffer.bytes,
            why=NEEDED,
            kernel=memory.steps[buffer.born],
            sources=node.sources[-1:] if node else [],
        )


def _same(buffer: Buffer, memory: Memory) -> Buffer | None:
    """The original of a copy: an existing buffer of the same size with other strides."""
    for other in memory.buffers:
        exists = other is not buffer and (other.born < buffer.born or other.kind == "input")
        alike = other.shape == buffer.shape and other.dtype == buffer.dtype
        if exists and alike and other.stride != buffer.stride and other.dies >= buffer.born:
            return other
    return None


def _chosen(memory: Memory, nodes: Mapping[str, Node]) -> Iterator[LayoutChange]:
    """Buffers whose strides differ from those of their values in the graph."""
    for buffer in memory.buffers:
        if buffer.kind == "input":
            continue
        values = [nodes[name] for name in buffer.nodes if name in nodes]
        strides = [node.stride for node in values if node.stride]
        if len(strides) != 1 or not _differs(strides[0], buffer):
            continue
        yield LayoutChange(
            node=values[0].name,
            direction=memory.direction,
            old=_text(strides[0]),
            new=_text(buffer.stride),
            bytes=buffer.bytes,
            why=CHOSEN,
            inserted=False,
            kernel=memory.steps[buffer.born] if memory.steps else "",
            sources=values[0].sources[-1:],
        )


def _differs(stride: list[str], buffer: Buffer) -> bool:
    """Whether two layouts differ in a dimension that has more than one element."""
    steps = zip(stride, buffer.stride, buffer.shape, strict=False)
    return any(name != other for name, other, size in steps if size != "1")


def _text(stride: list[str]) -> str:
    return f"({', '.join(stride)})"


def _direction(name: str) -> Direction:
    return "backward" if name == "backward" else "forward" if name == "forward" else "inference"
