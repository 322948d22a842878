"""A variant for a GPU that is not present, as plain typed structs of the report.

Nothing here is measured. torch really generates the code for the target. Times are estimates
(`Estimate`, `Launch.estimated_us`), and a rule makes the choices that need the device
(`Decision`).
"""

from __future__ import annotations

from typing import Literal

from .compilation.parts import Direction
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


DECISIONS_TITLE = "Decided without the device"
"""The heading of Inductor's decisions for a target that is not present."""


ON_DEVICE_TITLE = "On the device"
"""The heading of how the device itself would decide."""

DECISION_KINDS: dict[str, str] = {
    "dispatch": "Kernel of an operator",
    "padding": "Padding",
    "autotuning": "Launch configuration",
    "algorithm": "Library or template",
    "constant": "Constant",
    "other": "Choice",
}
"""Kind of a decision → its title."""


class Decision(Struct):
    """A choice that needs the device, and the rule that made it instead."""

    kind: Literal["dispatch", "padding", "autotuning", "algorithm", "constant", "other"]
    """dispatch: which kernel an operator has on this device. padding: whether a matrix product's
    sizes are padded. autotuning: which configuration. algorithm: library or template."""
    operator: str
    chosen: str
    rule: str
    """The rule, in a sentence."""
    instead: str = ""
    """How the device itself would decide."""
    direction: Direction = "inference"
    nodes: list[str] = []
    """The names of its nodes in the post-grad graph."""
    kernel: str = ""
    """As in `Kernel.name`, if the choice is about a kernel."""
    lines: dict[str, list[int]] = {}
    """Artifact ("python", "cpp") → the lines that it affects."""
    sources: list[SourceLine] = []


class KernelConfig(Struct):
    """One launch configuration of a kernel, compiled."""

    name: str
    """``XBLOCK=1024, num_warps=4, num_stages=1``."""
    config: dict[str, str] = {}
    usual: bool = False
    """Whether it represents the kernel while none is timed; its assembly and resources are then
    stored in the kernel and empty here."""
    assembly: dict[str, str] = {}
    """Form → text; the forms are `FORMS`."""
    assembly_lines: dict[str, list[int]] = {}
    """Form → for each line of the text, the line of the kernel's source that it came from; 0 if
    unknown."""
    resources: dict[str, float] = {}
    """As `Kernel.resources`."""
    limit: str = ""
    """As `Kernel.limit`."""
    why: str = ""
    """Why it cannot be compiled: out of shared memory, say."""
    absent: dict[str, str] = {}
    """Form → why its text is missing."""


class KernelCheck(Struct):
    """Whether a kernel computes the right values, checked without the device."""

    outcome: Literal["agrees", "differs", "not checked"]
    why: str = ""
    """Why it was not checked, or the first difference."""
    how: str = ""
    """``Triton's interpreter, against eager in float64``."""
    launches: int = 0
    """How many launches were compared."""
    error: float | None = None
    """The largest error, as a share of the largest expected value."""
    tolerance: float | None = None
    """The tolerance at the largest error."""
    text: str = ""
    """Everything above but the outcome, in a line."""


class KernelEstimate(Struct):
    """A lower bound of the time of a kernel's launches in one call on the target."""

    us: float
    launches: int
    """How many of the launches have an estimate."""
    bounds: list[Literal["launch", "memory", "compute"]] = []
    """What limits the launches, each once."""
    text: str = ""
    """The estimate in one sentence."""


class Estimate(Struct):
    """A lower bound of a call's time on the target. Never measured."""

    kernels_us: float = 0.0
    """All launches, each at the target's memory bandwidth or peak rate, whichever is slower."""
    launch_us: float = 0.0
    """The host's launch overhead, as a separate figure: it matters while kernels do not hide
    it."""
    launches: int = 0
    unknown: int = 0
    """Launches without an estimate, which are missing in ``kernels_us``."""
    bytes: float = 0.0
    operations: float = 0.0
    how: str = ""
    """How the kernels' times are estimated, as a sentence."""
    call_us: float | None = None
    """The whole call: the time of its kernels or of the host that launches them, whichever is
    longer. None if too few of its launches have an estimate."""
    figures: str = ""
    """The device's specifications that the estimate uses, and their source, as a sentence."""
    overhead: str = ""
    """The launch overhead that the estimate assumes, as a sentence."""


class TargetReport(Struct):
    """The device that a variant's code was generated for, and the results for it."""

    name: str
    """The target's name, as `Variant.target`."""
    device: Device
    is_here: bool = False
    """Whether it is a device of this machine (``target="this"``), whose figures the driver
    reports."""
    estimate: Estimate | None = None
    absent: dict[str, str] = {}
