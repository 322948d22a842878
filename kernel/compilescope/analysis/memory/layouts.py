"""Copies that only change strides, and strides that Inductor chose instead of the graph's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...report import Buffer, Compilation, Direction, Kernel, LayoutChange, Memory, Node
from ..graphs.operation_counts import operator_name
from ..kernels.estimates.copied_pointers import copied_pointers
from ..kernels.estimates.fusion import LAYOUT
from ..kernels.estimates.layout_copies import launch_calls, pointers_of
from ..wrapper.launches import nodes_of

REQUESTED = "The program, or an operator's own code, asks for a copy with other strides."
PASS = "A graph pass inserted it."
NEEDED = "A separate kernel copies it: its next reader needs these strides."
BESIDE = "A kernel copies it in addition to its other work: its next reader needs these strides."
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
    in_graph = {change.node for change in layout_changes}
    copied = dict(_copied(compilation))
    for memory in compilation.memory:
        nodes = graphs.get(memory.direction, {})
        copies = [
            (buffer, source, kernel)
            for buffer, source, kernel in _buffer_copies(memory, copied)
            if in_graph.isdisjoint(buffer.nodes)
        ]
        layout_changes += _moved(memory, nodes, copies)
        layout_changes += _chosen(memory, nodes, {buffer.name for buffer, _, _ in copies})
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


def _copied(compilation: Compilation) -> Iterator[tuple[str, tuple[Kernel, dict[str, str]]]]:
    """The key of each launch that copies buffers, its kernel, and copy → original by name."""
    calls = dict(launch_calls(compilation))
    for kernel in compilation.kernels:
        copies = copied_pointers(kernel)
        pointers = pointers_of(kernel) if copies else []
        for launch in kernel.launches if copies else ():
            call = calls.get(launch.key)
            if call is not None and len(call.buffers) == len(pointers):
                names = [buffer.name for buffer in call.buffers]
                by_pointer = dict(zip(pointers, names, strict=True))
                yield (
                    launch.key,
                    (kernel, {by_pointer[new]: by_pointer[old] for new, old in copies.items()}),
                )


def _buffer_copies(
    memory: Memory, copied: Mapping[str, tuple[Kernel, dict[str, str]]]
) -> Iterator[tuple[Buffer, Buffer, Kernel]]:
    """Each buffer that is a copy with other strides, its original, and the kernel."""
    buffers = {buffer.name: buffer for buffer in memory.buffers}
    for key in memory.keys:
        kernel, names = copied.get(key, (None, {}))
        for new, old in names.items():
            buffer, source = buffers.get(new), buffers.get(old)
            if buffer is None or source is None:
                continue
            same = buffer.shape == source.shape and buffer.dtype == source.dtype
            if kernel and same and buffer.kind != "input" and _differs(source.stride, buffer):
                yield buffer, source, kernel


def _moved(
    memory: Memory, nodes: Mapping[str, Node], copies: Sequence[tuple[Buffer, Buffer, Kernel]]
) -> Iterator[LayoutChange]:
    """The copies that no node of the graph is."""
    for buffer, source, kernel in copies:
        node = nodes.get(source.name)
        is_separate = kernel.fusion is not None and kernel.fusion.kind == LAYOUT
        yield LayoutChange(
            node=source.nodes[0] if source.nodes else source.name,
            title=source.title,
            direction=memory.direction,
            old=_text(source.stride),
            new=_text(buffer.stride),
            bytes=buffer.bytes,
            why=NEEDED if is_separate else BESIDE,
            kernel=kernel.name,
            sources=node.sources[-1:] if node else [],
        )


def _chosen(memory: Memory, nodes: Mapping[str, Node], copies: set[str]) -> Iterator[LayoutChange]:
    """Buffers whose strides differ from those of their values in the graph."""
    for buffer in memory.buffers:
        if buffer.kind == "input" or buffer.name in copies:
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
