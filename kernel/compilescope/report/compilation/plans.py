"""Inductor's plans: fusion, tiling, layouts, memory, decompositions. Structs of the report.

The rules are the report's: fields are only ever added, with a default.
"""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct
from ..units import percent, size
from .parts import Direction, WrapperLanguage


class Fusion(Struct):
    """The operators fused into one kernel, and the memory traffic that this saves."""

    nodes: int = 0
    """Operators of the post-grad graph in the kernel."""
    saved_bytes: float | None = None
    """Bytes that unfused operators would write and read between them."""
    saved: list[str] = []
    """The nodes whose values never leave the kernel."""
    kind: str = ""
    """pointwise, reduction, persistent reduction, template, foreach …"""
    why: str = ""


class Tiling(Struct):
    """How a kernel's iteration space is divided."""

    extents: list[str] = []
    """Its loops, outermost first, as sizes or symbols."""
    tile: dict[str, str] = {}
    """``XBLOCK`` → ``1024`` (Triton), ``x1`` → ``16`` (C++)."""
    vector_width: int | None = None
    """Elements per vector instruction, in C++."""
    vector: str = ""
    """The instruction set, or why it is scalar."""
    threads: str = ""
    """How it is distributed over threads or blocks."""


BakedKind = Literal["size", "stride", "value", "divisible", "aligned"]
"""size: a number of elements, or a block of fixed size: another size is another kernel. stride: a
distance between elements in memory, as a number in the kernel's addresses. value: a number of the
program, as a constant. divisible: compiled for a number that 16 divides. aligned: compiled for an
address that 16 divides."""


class Baked(Struct):
    """A size or value that the generated code assumes."""

    name: str
    """``xnumel``, ``s0``, ``XBLOCK``."""
    value: str
    kind: BakedKind = "size"
    line: int | None = None
    """The line of the kernel's source."""
    why: str = ""


class LayoutChange(Struct):
    """A copy that only changes strides, or strides chosen by Inductor instead of the user."""

    node: str
    title: str = ""
    """What the value is called in the model, if it is an input: ``layers.0.weight``."""
    direction: Direction = "inference"
    old: str = ""
    new: str = ""
    bytes: float | None = None
    why: str = ""
    inserted: bool = True
    """Whether it needs a copy."""
    kernel: str = ""
    sources: list[SourceLine] = []


class Buffer(Struct):
    """Memory that the wrapper allocates, or an input or output of it."""

    name: str
    title: str = ""
    """What an input is called in the model: ``layers.0.weight``."""
    kind: Literal["input", "constant", "temporary", "output"] = "temporary"
    bytes: float | None = None
    """The size in bytes, for the sizes that torch compiled with."""
    shape: list[str] = []
    stride: list[str] = []
    dtype: str = ""
    device: str = ""
    born: int = 0
    """The step of the memory's time line at which it is allocated."""
    dies: int = 0
    """The step after which its memory may be reused."""
    reuses: str = ""
    """The buffer whose memory it reuses."""
    nodes: list[str] = []
    line: int | None = None
    """The line of the wrapper."""


class MemoryPeak(Struct):
    """A row on the peak of a wrapper's memory, in words."""

    title: str
    text: str
    """``4.00 MiB (50 % less now)``."""
    note: str = ""
    """What the row means."""


class Memory(Struct):
    """How one wrapper uses memory during one call."""

    direction: Direction = "inference"
    artifact: WrapperLanguage = "python"
    steps: list[str] = []
    """The time line: launches and calls, by label."""
    keys: list[str] = []
    """Their keys, as in `Region.key`."""
    live_bytes: list[float] = []
    """Bytes that the wrapper has allocated and not yet freed, at each step."""
    buffers: list[Buffer] = []
    peak_bytes: float = 0.0
    """The largest of ``live_bytes``: inputs and weights are the caller's, and do not count."""
    peak_module: str = ""
    """The path of the module whose launch first reaches the peak; empty if that is unknown."""
    peak_without_reuse_bytes: float = 0.0
    """The peak if no buffer reused another's memory and none were freed before the end."""
    peak_unfused_bytes: float | None = None
    """The peak if each operator of the graph wrote its result, freed after its last use."""
    assumed: dict[str, int] = {}
    """Symbol → its value in the sizes."""
    how: str = ""
    peaks: list[MemoryPeak] = []
    """The peak, where it is reached, and what it would be without reuse and without fusion."""

    @property
    def peak_step(self) -> int | None:
        """The first step at the peak; None if nothing is allocated."""
        is_known = self.peak_bytes and self.peak_bytes in self.live_bytes[: len(self.steps)]
        return self.live_bytes.index(self.peak_bytes) if is_known else None


_PEAK = "Peak without inputs and weights"
_PEAK_NOTE = "What the wrapper allocates during a call: its buffers and outputs"
_UNFUSED = "If each operator wrote its own result, freed after its last use"
_NO_COPIES = "; without copies into other layouts, as of weights"
_NOTABLE = 0.99
"""A peak that is above this share of another saves nothing worth mentioning."""
_TWICE = 1.95
"""From this ratio on, which rounds to 2, a larger peak is a multiple, not percents more."""


def memory_peaks(memory: Memory) -> list[MemoryPeak]:
    """Return the peaks of a wrapper's memory in words, the actual one and its launch first."""
    peaks = [MemoryPeak(_PEAK, size(memory.peak_bytes), _PEAK_NOTE)]
    step = memory.peak_step
    if step is not None:
        module = f", module {memory.peak_module}" if memory.peak_module else ""
        text = f"launch {step}: {memory.steps[step]}{module}"
        peaks.append(MemoryPeak("Reached in", text, "The first such launch, if there are several"))
    peaks.append(
        MemoryPeak(
            "Without reuse",
            _compared_size(memory.peak_without_reuse_bytes, memory.peak_bytes),
            "If no buffer were reused, or freed before the end",
        )
    )
    if memory.peak_unfused_bytes is not None:
        peaks.append(
            MemoryPeak(
                "Unfused",
                _compared_size(memory.peak_unfused_bytes, memory.peak_bytes),
                _UNFUSED + _NO_COPIES * (memory.peak_unfused_bytes < memory.peak_bytes * _NOTABLE),
            )
        )
    return peaks


def _compared_size(other_bytes: float, peak_bytes: float) -> str:
    if 0 < other_bytes < peak_bytes * _NOTABLE:
        ratio = peak_bytes / other_bytes
        more = f"{percent(ratio - 1)} more" if ratio < _TWICE else f"{ratio:.3g} times as much"
        return f"{size(other_bytes)} ({more} now)"
    if peak_bytes >= other_bytes * _NOTABLE:
        return size(other_bytes)
    return f"{size(other_bytes)} ({percent(1 - peak_bytes / other_bytes)} less now)"


class Decomposition(Struct):
    """An operator that was decomposed into others."""

    operator: str
    into: list[str] = []
    count: int = 1
    """The number of places."""
    by: Literal["autograd", "decomposition", "dispatch", "pass", "unknown"] = "unknown"
    """decomposition: of Inductor's table. autograd: its derivative. dispatch: the operator's own
    composite implementation. pass: a pass over the graph."""
    stage: str = ""
    """The first stage with the resulting operators."""
    nodes: list[str] = []
    """The nodes of the stage before."""
    became: list[str] = []
    """The nodes of that stage."""
    why: str = ""
    sources: list[SourceLine] = []
