"""Estimates kernels that copy inputs of library calls into another layout, from their buffers.

No node of the graph is such a copy, so `estimates` has nothing for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...report import Code, Compilation, Kernel
from ..wrapper.launches import codes_of
from .estimates import summarize
from .fusion import LAYOUT

_TRITON = re.compile(r"^def \w+\(([^)]*)\)", re.M)
_CPP = re.compile(r'extern "C"\s+void\s+\w+\(([^)]*)\)')
_POINTER = re.compile(r"\b(?:in_out|in|out)_ptr\d+\b")
_WORD = re.compile(r"[A-Za-z_]\w*")


def estimate_copies(compilation: Compilation) -> None:
    """Fill in ``estimated_bytes`` and ``estimated_operations`` of copies; the memory comes first.

    A copy reads at most as much as it writes: its input may be a part of a buffer.
    """
    calls = dict(launch_calls(compilation))
    for kernel in compilation.kernels:
        if kernel.fusion is None or kernel.fusion.kind != LAYOUT:
            continue
        pointers = pointers_of(kernel)
        for launch in kernel.launches:
            if launch.estimated_bytes is not None or launch.key not in calls:
                continue
            accessed = [size for _, size in calls[launch.key]]
            if not pointers or len(accessed) != len(pointers) or None in accessed:
                continue
            known = list(zip(pointers, (size or 0.0 for size in accessed), strict=True))
            read = sum(size for pointer, size in known if pointer.startswith("in_"))
            written = sum(size for pointer, size in known if not pointer.startswith("in_ptr"))
            launch.estimated_bytes = float(min(read, written) + written)
            launch.estimated_operations = 0.0
        summarize(kernel)


def launch_calls(
    compilation: Compilation,
) -> Iterator[tuple[str, list[tuple[str, float | None]]]]:
    """The key of each launch, and the buffers that it gets with their sizes, in order."""
    for code, memory in zip(_with_text(compilation), compilation.memory, strict=False):
        sizes = {buffer.name: buffer.bytes for buffer in memory.buffers}
        text = code.python if memory.artifact == "python" else code.cpp
        lines = (text or "").split("\n")
        for region in code.regions.get(memory.artifact, ()):
            if region.kind == "launch":
                words = _WORD.findall("\n".join(lines[region.start - 1 : region.end]))
                yield region.key, [(word, sizes[word]) for word in words if word in sizes]


def _with_text(compilation: Compilation) -> Iterator[Code]:
    return (code for code in codes_of(compilation) if (code.python or code.cpp) is not None)


def pointers_of(kernel: Kernel) -> list[str]:
    """The names of a kernel's pointers, in order."""
    match = (_TRITON if kernel.language == "triton" else _CPP).search(kernel.source)
    return _POINTER.findall(match[1]) if match else []
