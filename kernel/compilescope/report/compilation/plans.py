"""What Inductor planned: fusion, tiling, layouts, memory, decompositions. Structs of the report.

The rules are the report's: fields are only ever added, with a default.
"""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct

Direction = Literal["inference", "forward", "backward"]


class Fusion(Struct):
    """What was put into one kernel, and what that saves."""

    nodes: int = 0
    """Operators of the post-grad graph in it."""
    saved_bytes: float | None = None
    """Bytes that would have been written and read again between its operators."""
    saved: list[str] = []
    """The nodes whose values stay inside it."""
    kind: str = ""
    """pointwise, reduction, persistent reduction, template, foreach …"""
    why: str = ""


class Tiling(Struct):
    """How a kernel's iterations are cut up."""

    extents: list[str] = []
    """Its loops, outermost first, as sizes or symbols."""
    tile: dict[str, str] = {}
    """``XBLOCK`` → ``1024`` (Triton), ``x1`` → ``16`` (C++)."""
    vector_width: int | None = None
    """Elements that one instruction handles, in C++."""
    vector: str = ""
    """The instruction set, or why it is scalar."""
    threads: str = ""
    """How it is spread over threads or blocks."""


BakedKind = Literal["size", "stride", "value", "divisible", "aligned"]
"""size: a number of elements, or a block of fixed size: another size is another kernel. stride: a
distance between elements in memory, as a number in the kernel's addresses. value: a number of the
program, as a constant. divisible: compiled for a number that 16 divides. aligned: compiled for an
address that 16 divides."""


class Baked(Struct):
    """A size or value that the generated code takes for granted."""

    name: str
    """``xnumel``, ``s0``, ``XBLOCK``."""
    value: str
    kind: BakedKind = "size"
    line: int | None = None
    """Of the kernel's source."""
    why: str = ""


class LayoutChange(Struct):
    """A copy that only changes strides, or strides chosen by Inductor instead of the user."""

    node: str
    direction: Direction = "inference"
    old: str = ""
    new: str = ""
    bytes: float | None = None
    why: str = ""
    inserted: bool = True
    """Whether a copy was made for it."""
    kernel: str = ""
    sources: list[SourceLine] = []


class Buffer(Struct):
    """Memory that the wrapper allocates, or an input or output of it."""

    name: str
    kind: Literal["input", "constant", "temporary", "output"] = "temporary"
    bytes: float | None = None
    """For the sizes that torch compiled with."""
    shape: list[str] = []
    stride: list[str] = []
    dtype: str = ""
    device: str = ""
    born: int = 0
    """The step of the memory's time line at which it is there."""
    dies: int = 0
    """The step after which it may be used again."""
    reuses: str = ""
    """The buffer whose memory it took over."""
    nodes: list[str] = []
    line: int | None = None
    """Of the wrapper."""


class Memory(Struct):
    """What one wrapper's memory is used for, over one call."""

    direction: Direction = "inference"
    artifact: Literal["python", "cpp"] = "python"
    steps: list[str] = []
    """The time line: launches and calls, by label."""
    keys: list[str] = []
    """Their keys, as in `Region.key`."""
    live_bytes: list[float] = []
    """Allocated by the wrapper and not yet free, at each step."""
    buffers: list[Buffer] = []
    peak_bytes: float = 0.0
    peak_without_reuse_bytes: float = 0.0
    """If no buffer took over another's memory and none were freed before the end."""
    peak_unfused_bytes: float | None = None
    """If each operator of the graph had written its result, freed after its last use."""
    assumed: dict[str, int] = {}
    """Symbol → the value that the sizes take for it."""
    how: str = ""


class Decomposition(Struct):
    """An operator that became others."""

    operator: str
    into: list[str] = []
    count: int = 1
    """In how many places."""
    by: Literal["autograd", "decomposition", "dispatch", "pass", "unknown"] = "unknown"
    """decomposition: of Inductor's table. autograd: its derivative. dispatch: the operator's own
    composite implementation. pass: a pass over the graph."""
    stage: str = ""
    """The stage that first has what it became."""
    nodes: list[str] = []
    """Of the stage before."""
    became: list[str] = []
    """Of that stage."""
    why: str = ""
    sources: list[SourceLine] = []
