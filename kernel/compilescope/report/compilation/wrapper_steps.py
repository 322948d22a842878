"""What a generated wrapper does, step by step, and how it leaves itself: structs of the report.

The rules are the report's: fields are only ever added, with a default.
"""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct

StepKind = Literal[
    "entry",
    "check",
    "constant",
    "stream",
    "allocation",
    "view",
    "load",
    "launch",
    "call",
    "free",
    "return",
    "other",
]
STEP_KINDS: dict[StepKind, str] = {
    "entry": "entry",
    "check": "input checks",
    "constant": "constants and sizes",
    "stream": "device and stream",
    "allocation": "allocation",
    "view": "view",
    "load": "kernel load",
    "launch": "kernel launch",
    "call": "extern call",
    "free": "free",
    "return": "return",
    "other": "other",
}
"""Kind of a step → title, in the order of a call. entry: inputs unpacked. check: sizes, strides
and alignment of inputs. call: an operator that is no generated kernel, through a library or
through the dispatcher."""


class Step(Struct):
    """A run of lines of a wrapper that does one thing.

    Steps of a Python and a C++ wrapper that do the same thing carry the same ``key``.
    """

    kind: StepKind
    start: int
    end: int
    """Inclusive."""
    key: str = ""
    label: str = ""
    """What it works on: a buffer, a kernel, an operator."""
    kernel: str = ""
    sources: list[SourceLine] = []
    us: float | None = None
    """What it costs the host in one call, where it was measured."""
    interval_us: tuple[float, float] | None = None
    how: str = ""


class Steps(Struct):
    """What one wrapper does, step by step."""

    artifact: Literal["python", "cpp"]
    direction: Literal["inference", "forward", "backward"] = "inference"
    steps: list[Step] = []
    whole_us: float | None = None
    """A call of the wrapper, measured as a whole in the same rounds."""
    sum_us: float | None = None
    agrees: bool = True
    """Whether the sum is within a tenth of the whole."""
    why: str = ""
    """If it does not agree, why that may be; and what was not measured."""


class Route(Struct):
    """How the generated code reaches an operator that it has no kernel for."""

    operator: str
    registered: Literal["torch", "cpp", "python", "triton", "unknown"] = "unknown"
    """Who implements it: torch itself, a C++ library of somebody's, Python, or a Triton kernel that
    the user wrote."""
    artifact: Literal["python", "cpp"] = "python"
    direction: Literal["inference", "forward", "backward"] = "inference"
    via: Literal["library", "shim", "dispatcher", "python", "inlined"] = "python"
    """library: ATen called directly. shim: a function of the C shim. dispatcher: boxed, through
    C++'s dispatcher, which calls an operator's Python where that implements it. python: as a Python
    function. inlined: a kernel of the generated code."""
    lines: list[int] = []
    gil: int = 0
    """How often one call of the wrapper takes the GIL for it."""
    us: float | None = None
    """What reaching it costs in one call, without the operator's own work, where measured."""
    interval_us: tuple[float, float] | None = None
    how: str = ""
    why: str = ""
    remedy: str = ""
    where: SourceLine | None = None
    """Where it was defined, where that is known."""


class Descriptor(Struct):
    """A TMA descriptor that a kernel reads or writes through (Hopper and later)."""

    name: str
    """The kernel's argument, or the variable in it."""
    made: Literal["host", "device"] = "device"
    """Whether the wrapper builds it and passes it, or the kernel itself does."""
    shape: list[str] = []
    strides: list[str] = []
    block: list[str] = []
    dtype: str = ""
    built: Literal["once", "each call", "each block"] = "each block"
    line: int | None = None
    """Of the kernel's source."""
    why: str = ""


LoadStep = Literal["compile", "load", "autotune", "first_run", "later_run"]


class LoadSpan(Struct):
    """When a kernel was compiled, loaded, tuned or launched."""

    step: LoadStep
    start_us: float
    """On the axis of the first call's phases: since the earliest of them began, or, where there is
    none, since the call began. Of a later run: since the first launch of that later call began."""
    us: float
    background: bool = False
    """On another thread, meanwhile."""


class KernelLoad(Struct):
    """How one kernel came to be there: compiled, loaded, run for the first time."""

    kernel: str
    compilation: str = ""
    call: int = 1
    """In which call of the variant; 0: while it was compiled."""
    started_us: float = 0.0
    """Since the first call began."""
    compile_us: float | None = None
    load_us: float | None = None
    autotune_us: float | None = None
    first_run_us: float | None = None
    warm_run_us: float | None = None
    """A later launch, on the host."""
    background: bool = False
    """Another process or thread compiled it meanwhile."""
    cached: bool | None = None
    """Whether it was found compiled."""
    how: str = ""
    spans: list[LoadSpan] = []
    """The same on the time line. What another process compiled is not there: torch says how long
    that took, not when. A first run holds what was compiled, loaded and tuned within it."""
