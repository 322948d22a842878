"""What is known of a variant for a GPU that is not there, as plain typed structs of the report.

Nothing here is measured. What torch generates for a target it really generates; times are estimates
(`Estimate`, `artifacts.Launch.estimated_us`), and whatever the missing device would have decided
was decided by a rule (`Decision`).
"""

from __future__ import annotations

from typing import Literal

from .devices import Device
from .problem import SourceLine, Struct

FORMS: dict[str, tuple[str, str]] = {
    "ttir": ("Triton IR", "mlir"),
    "ttgir": ("Triton GPU IR", "mlir"),
    "llir": ("LLVM IR", "llvm"),
    "ptx": ("PTX", "ptx"),
    "sass": ("SASS", "sass"),
    "amdgcn": ("AMDGCN", "amdgcn"),
}
"""Form of a compiled kernel → title and language, in the order in which the compiler makes them."""


class Decision(Struct):
    """A choice that would have needed the device, and the rule that made it instead."""

    kind: Literal["dispatch", "padding", "autotuning", "algorithm", "constant", "other"]
    """dispatch: which kernel an operator has on this device. padding: whether a product's sizes are
    padded. autotuning: which configuration. algorithm: library or template."""
    operator: str
    chosen: str
    rule: str
    """By which rule, in a sentence."""
    instead: str = ""
    """What decides on the device itself."""
    direction: Literal["inference", "forward", "backward"] = "inference"
    nodes: list[str] = []
    """Of the post-grad graph."""
    kernel: str = ""
    """As in `Kernel.name`, where the choice is about one."""
    lines: dict[str, list[int]] = {}
    """Artifact ("python", "cpp") → the lines it shows in."""
    sources: list[SourceLine] = []


class KernelConfig(Struct):
    """One launch configuration of a kernel, compiled."""

    name: str
    """``XBLOCK=1024, num_warps=4, num_stages=1``."""
    config: dict[str, str] = {}
    usual: bool = False
    """It is the one that stands for the kernel while none is timed: its assembly and resources are
    the kernel's own, and are empty here."""
    assembly: dict[str, str] = {}
    """Form → text; the forms are `FORMS`."""
    assembly_lines: dict[str, list[int]] = {}
    """Form → for each line of the text, the line of the kernel's source that it came from; 0 where
    none is known."""
    resources: dict[str, float] = {}
    """As `Kernel.resources`."""
    limit: str = ""
    """As `Kernel.limit`."""
    why: str = ""
    """Why it cannot be compiled: out of shared memory, say."""
    absent: dict[str, str] = {}
    """Form → why its text is missing."""


class KernelCheck(Struct):
    """Whether a kernel computes what it should, found out without the device."""

    outcome: Literal["agrees", "differs", "not checked"]
    why: str = ""
    """Why it was not checked, or where it differs first."""
    how: str = ""
    """``Triton's interpreter, against eager in float64``."""
    launches: int = 0
    """How many launches were compared."""
    error: float | None = None
    """The largest error, as a share of the largest value that should have come out."""
    tolerance: float | None = None
    """What it may be, where it is largest."""


class Estimate(Struct):
    """What a call would take on the target, at best. Never measured."""

    kernels_us: float = 0.0
    """All launches, each at the target's memory bandwidth or peak rate, whichever is slower."""
    launch_us: float = 0.0
    """Overhead of the launches, apart: the processor's, while it is not hidden behind kernels."""
    launches: int = 0
    unknown: int = 0
    """Launches without an estimate, which are missing in ``kernels_us``."""
    bytes: float = 0.0
    operations: float = 0.0
    how: str = ""
    call_us: float | None = None
    """The whole call: its kernels, or the processor that starts them, whichever takes longer. None
    where too few of its launches have an estimate."""


class TargetReport(Struct):
    """The device that a variant's code was generated for, and what was found out about it there."""

    name: str
    """As in `Variant.target`."""
    device: Device
    is_here: bool = False
    """It is a device of this machine (``target="this"``); its figures are then what it said."""
    estimate: Estimate | None = None
    absent: dict[str, str] = {}
