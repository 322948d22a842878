"""Inductor's plans, one line each: memory, layout changes, fusion."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import Compilation, Kernel
from .. import wording


def plans(compilation: Compilation) -> Iterator[str]:
    """The memory of each of a compilation's wrappers, and where layouts change."""
    for memory in compilation.memory:
        peaks = "; ".join(f"{peak.title.lower()} {peak.text}" for peak in memory.peaks)
        text = f"memory, {memory.direction}: {peaks}"
        if memory.assumed:
            text += f" (for {', '.join(f'{k} = {v}' for k, v in memory.assumed.items())})"
        yield text
    copies = [change for change in compilation.layouts if change.inserted]
    if copies:
        yield f"layout: {wording.count(len(copies), 'copy', 'copies')} that only change strides"


def kernel(kernel: Kernel) -> str:
    """A kernel's fusion and tiling; empty for a library call."""
    parts = fusion(kernel)
    if kernel.tiling is not None:
        tiles = [f"{name}={value}" for name, value in kernel.tiling.tile.items()]
        parts += [f"tile {', '.join(tiles)}"] if tiles else []
        parts += [kernel.tiling.vector] if kernel.tiling.vector else []
    return "; ".join(parts)


def fusion(kernel: Kernel) -> list[str]:
    """How many operators a kernel fuses and the bytes saved; nothing for a library call."""
    if kernel.fusion is None or kernel.language == "extern":
        return []
    if not kernel.fusion.nodes:
        return [kernel.fusion.why.rstrip(".")] if kernel.fusion.why else []
    parts = [f"{wording.count(kernel.fusion.nodes, 'operator')} fused"]
    if kernel.fusion.saved_bytes:
        parts.append(f"about {wording.size(kernel.fusion.saved_bytes)} saved")
    return parts
