"""Estimates kernels that copy inputs of library calls into another layout, from their buffers.

No node of the graph is such a copy, so `estimates` has nothing for it. A kernel may make one beside
the nodes that it computes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ....report import Buffer, Code, Compilation, Kernel, Launch
from ...wrapper.launches import codes_of
from .copied_pointers import POINTER, copied_pointers
from .estimates import summarize
from .fusion import LAYOUT

_TRITON = re.compile(r"^def \w+\(([^)]*)\)", re.M)
_CPP = re.compile(r'extern "C"\s+void\s+\w+\(([^)]*)\)')
_PART = re.compile(r"buf\d+")
_WORD = re.compile(r"[A-Za-z_]\w*")
_UNKNOWN = "The size of {}, which it copies into another layout, is not known."


class LaunchCall(NamedTuple):
    """A launch in a wrapper's code."""

    buffers: list[Buffer]
    """The buffers that it gets, in order."""
    pointers: list[Buffer | None]
    """The same; None for a part of a buffer, which has a name of its own."""
    nodes: list[str]
    """The nodes that it is named for."""


def estimate_copies(compilation: Compilation) -> None:
    """Complete ``estimated_bytes`` and ``estimated_operations``; the memory comes first."""
    calls = dict(launch_calls(compilation))
    for kernel in compilation.kernels:
        pointers = pointers_of(kernel)
        if kernel.fusion is None or not pointers:
            continue
        copied = copied_pointers(kernel)
        for launch in kernel.launches:
            call = calls.get(launch.key)
            if call is None or len(call.pointers) != len(pointers):
                continue
            pairs = zip(pointers, call.pointers, strict=True)
            by_pointer = {pointer: buffer for pointer, buffer in pairs if buffer is not None}
            if kernel.fusion.kind != LAYOUT or launch.estimated_bytes is not None:
                _add_copies(kernel, launch, by_pointer, copied, call.nodes)
            elif len(by_pointer) == len(pointers):
                _estimate_layout(launch, by_pointer)
        if copied or kernel.fusion.kind == LAYOUT:
            summarize(kernel)


def _estimate_layout(launch: Launch, by_pointer: dict[str, Buffer]) -> None:
    """The estimates of a kernel that only copies.

    It reads at most as much as it writes: its input may be a part of a buffer.
    """
    known = [(pointer, buffer.bytes) for pointer, buffer in by_pointer.items()]
    if any(size is None for _, size in known):
        return
    read = sum(size or 0.0 for pointer, size in known if pointer.startswith("in_"))
    written = sum(size or 0.0 for pointer, size in known if not pointer.startswith("in_ptr"))
    launch.estimated_bytes = float(min(read, written) + written)
    launch.estimated_operations = 0.0


def _add_copies(
    kernel: Kernel,
    launch: Launch,
    by_pointer: dict[str, Buffer],
    copied: dict[str, str],
    nodes: list[str],
) -> None:
    """Add what a launch copies besides its nodes to their estimate."""
    copies = [
        (pointer, by_pointer[pointer], by_pointer[source])
        for pointer, source in copied.items()
        # An output written in the place of an input may have a second name in the source.
        if pointer in by_pointer and source in by_pointer
        # A buffer that is a node's value is counted with the node, and a named input as a copy.
        if not by_pointer[pointer].nodes and not set(by_pointer[source].nodes) & set(nodes)
    ]
    if not copies:
        return
    outputs = {pointer for pointer in pointers_of(kernel) if not pointer.startswith("in_ptr")}
    if outputs == {pointer for pointer, _, _ in copies}:
        # torch names the nodes of the library call's other inputs for it, too.
        launch.estimated_bytes = launch.estimated_operations = 0.0
    for _, copy, source in copies:
        if copy.bytes is None or source.bytes is None:
            launch.estimated_bytes = None
            kernel.absent["estimated_bytes"] = _UNKNOWN.format(source.name)
        elif launch.estimated_bytes is not None:
            launch.estimated_bytes += min(source.bytes, copy.bytes) + copy.bytes


def launch_calls(compilation: Compilation) -> Iterator[tuple[str, LaunchCall]]:
    """The key of each launch, and its call."""
    for code, memory in zip(_with_text(compilation), compilation.memory, strict=False):
        buffers = {buffer.name: buffer for buffer in memory.buffers}
        text = code.python if memory.artifact == "python" else code.cpp
        lines = (text or "").split("\n")
        for region in code.regions.get(memory.artifact, ()):
            if region.kind == "launch":
                words = _WORD.findall("\n".join(lines[region.start - 1 : region.end]))
                launched = [buffers[word] for word in words if word in buffers]
                pointers = [
                    buffers.get(word) for word in words if word in buffers or _PART.fullmatch(word)
                ]
                yield region.key, LaunchCall(launched, pointers, region.nodes)


def _with_text(compilation: Compilation) -> Iterator[Code]:
    return (code for code in codes_of(compilation) if (code.python or code.cpp) is not None)


def pointers_of(kernel: Kernel) -> list[str]:
    """The names of a kernel's pointers, in order."""
    match = (_TRITON if kernel.language == "triton" else _CPP).search(kernel.source)
    return POINTER.findall(match[1]) if match else []
