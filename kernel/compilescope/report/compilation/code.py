"""The generated code of a compilation: wrappers, kernels and launches.

Part of a report; see `compilescope.report` for the rules.
"""

from __future__ import annotations

from typing import Literal

from ..measurements.timings import KernelTime, LaunchTime
from ..problem import SourceLine, Struct
from ..target import KernelCheck, KernelConfig, KernelEstimate
from .parts import Direction
from .plans import Baked, Fusion, Tiling
from .wrapper_steps import Descriptor

Language = Literal["python", "cpp", "triton", "extern", "fx", "text"]


class Region(Struct):
    """A range of lines of a generated file with one purpose.

    Regions of a Python and a C++ wrapper that do the same thing carry the same ``key``.
    """

    kind: Literal["kernel", "launch", "alloc", "free", "guard", "return", "entry"]
    start: int
    end: int
    """Inclusive."""
    key: str = ""
    label: str = ""
    kernel: str | None = None
    nodes: list[str] = []
    sources: list[SourceLine] = []


ANCHOR_WEIGHTS: dict[str, int] = {"launch": 1 << 20, "entry": 16, "return": 16, "kernel": 1}
"""Kind of a region by which two texts are aligned → its weight if not all of them can be.

A launch outweighs any number of others. Wrappers are compared call by call, and kernels are defined
before the calls in Python and after them in C++. Allocations, frees and checks are left out:
aligning them would tear both texts apart."""


class Code(Struct):
    """What Inductor generated for one graph."""

    direction: Direction = "inference"
    """Whether the graph is for inference, or is the forward or backward of training."""
    python: str | None = None
    """The Python wrapper as Inductor wrote it, kernels included; None if this variant has none."""
    cpp: str | None = None
    """The C++ wrapper: its C++ alone; None if this variant has none."""
    shell: str | None = None
    """The Python module that contains the C++ wrapper, without the C++."""
    path: str | None = None
    """The file that torch wrote it to; None if it wrote none."""
    regions: dict[str, list[Region]] = {}
    """Artifact ("python", "cpp") → its regions, by start line."""
    backward: Code | None = None
    """The code of the backward graph, if there is one."""
    others: list[Code] = []
    """The code of further graphs with the same direction, if torch compiled several under one
    compile id."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    aot: str | None = None
    """AOTInductor's C++, if the graph was compiled ahead of time."""
    buffers: dict[str, str] = {}
    """Buffer of the wrapper → the post-grad node whose value it holds, for buffers that are written
    only once."""


LaunchBound = Literal["", "launch", "memory", "compute"]


class Launch(Struct):
    """A call of a kernel in a wrapper."""

    artifact: Literal["python", "cpp", "aot"]
    """The wrapper that has the launch."""
    variant: str
    """The name of the variant whose wrapper this is."""
    line: int
    """The first line of the launch in the wrapper."""
    end: int
    """Its last line."""
    key: str
    """The key of its region, as in `Region.key`; equal for the same launch in both wrappers."""
    text: str = ""
    """The launch's first line, without its indent."""
    estimated_bytes: float | None = None
    """Bytes that this launch reads and writes: the sizes of its buffers, each counted once."""
    estimated_operations: float | None = None
    """Arithmetic operations of this launch; a multiply-add counts as two."""
    time: LaunchTime | None = None
    """The measured time, if any."""
    estimated_us: float | None = None
    """A lower bound of the kernel's time on the variant's target, without launch overhead (µs): an
    estimate, never a measurement."""
    estimated_bound: Literal["", "memory", "compute"] = ""
    """What limits the kernel in that estimate: memory bandwidth or arithmetic."""
    estimated_launch_us: float | None = None
    """An estimate of the host's launch overhead on the target (µs)."""
    least_us: float | None = None
    """The longer of these two estimates (µs): the launch's share of a call is at least this."""
    least_bound: LaunchBound = ""
    """What limits the launch in that estimate."""
    estimate: str = ""
    """The estimate in one sentence; empty without an estimate."""


RESOURCES: dict[str, str] = {
    "registers": "Registers per thread",
    "scalar_registers": "Scalar registers per wave",
    "spills": "Register spills per thread",
    "shared_bytes": "Shared memory per block",
    "tensor_columns": "Tensor memory columns per block",
    "warps": "Warps per block",
    "stages": "Pipeline stages",
    "occupancy": "Occupancy",
    "blocks_per_multiprocessor": "Blocks per multiprocessor",
    "n_regs": "Registers",
    "n_spills": "Spilled registers",
    "shared": "Shared memory",
    "compile_us": "Compiled in",
}
"""Resource of a kernel → its title. The last four are torch's own names, of a trace."""

RESOURCE_UNITS: dict[str, Literal["bytes", "share", "us"]] = {
    "spills": "bytes",
    "shared_bytes": "bytes",
    "shared": "bytes",
    "occupancy": "share",
    "compile_us": "us",
}
"""Resource of a kernel → its unit; a resource that is not here is a count."""


class Kernel(Struct):
    """A generated kernel (C++ or Triton), or a library call (``extern``)."""

    name: str
    """Its name in the wrapper: ``triton_poi_fused_add_0``; for a library call, the operator."""
    language: Language
    """``cpp``, ``triton``, or ``extern`` for a library call."""
    direction: Direction = "inference"
    """The direction of the graph that launches it."""
    source: str = ""
    """Its source; empty for a library call."""
    ops: list[str] = []
    """The ATen operators that it computes: ``aten.add.Tensor``; none if it copies only."""
    launches: list[Launch] = []
    """Its launches in the wrappers."""
    nodes: list[str] = []
    """Names of the post-grad nodes that torch names for it: those that it computes, and those whose
    inputs it prepares, or which prepare its own."""
    sources: list[SourceLine] = []
    """Lines of the user's code that it computes, first that of the operator that it is for: its own
    if it is a library call, otherwise the last that it computes. If no node of the compilation has
    a line (a module that torch itself defines), the line of the call."""
    modules: list[str] = []
    """The modules whose operators it computes, with their classes: ``layers.0: Conv2d``."""
    assembly: dict[str, str] = {}
    """Form → text, if the kernel was compiled for a target; the forms are `target.FORMS`."""
    resources: dict[str, float] = {}
    """Resource, one of `RESOURCES` or another of torch's, → how much of it the kernel takes, in the
    unit of `RESOURCE_UNITS`."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    grid: str = ""
    """The launch grid (Triton) or the parallel loop's extents (C++), as written in the wrapper."""
    estimated_bytes: float | None = None
    """Bytes that one launch reads and writes: the sizes of its buffers, each counted once."""
    estimated_operations: float | None = None
    """Arithmetic operations of one launch; a multiply-add counts as two."""
    estimated_for: dict[str, int] = {}
    """Symbolic size → its value in the estimates, which is the one that torch compiled with."""
    assembly_lines: dict[str, list[int]] = {}
    """As `KernelConfig.assembly_lines`."""
    limit: str = ""
    """What limits its occupancy: threads, registers, shared memory, tensor memory, blocks."""
    configs: list[KernelConfig] = []
    """Every launch configuration that torch would benchmark on the target."""
    check: KernelCheck | None = None
    """For a target: the comparison of its results with torch's operators."""
    fusion: Fusion | None = None
    """The operators fused into it, and the memory traffic that this saves."""
    tiling: Tiling | None = None
    """How its loops are divided into blocks, vectors and threads."""
    baked: list[Baked] = []
    """The sizes and values that are hard-coded in it."""
    descriptors: list[Descriptor] = []
    """The TMA descriptors that it uses."""
    time: KernelTime | None = None
    """The measured time of its launches in the variant's own wrapper, if any."""
    least: KernelEstimate | None = None
    """For a target: an estimate of the time of these launches, if any has one."""
