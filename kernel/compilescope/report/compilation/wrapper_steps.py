"""The steps of a generated wrapper and its calls of other code: structs of the report.

The rules are the report's: fields are only ever added, with a default.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ..problem import SourceLine, Struct
from .parts import Direction, WrapperLanguage

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
"""Kind of a step → title, in the order of a call. entry: inputs unpacked. check: sizes, strides and
alignment of inputs. call: an operator without a generated kernel, called through a library or the
dispatcher."""


class Step(Struct):
    """A range of lines of a wrapper with one purpose.

    Steps of a Python and a C++ wrapper that do the same thing carry the same ``key``.
    """

    kind: StepKind
    start: int
    end: int
    """Inclusive."""
    key: str = ""
    label: str = ""
    """Its subject: a buffer, a kernel, an operator."""
    kernel: str = ""
    sources: list[SourceLine] = []
    us: float | None = None
    """Its time on the host in one call, if measured."""
    interval_us: tuple[float, float] | None = None
    how: str = ""


class StepSum(Struct):
    """The steps of one kind in one wrapper."""

    kind: StepKind
    count: int
    us: float | None = None
    """The sum of their times; None if none of them was measured."""
    share: float | None = None
    """Of the sum of all steps; None if none of the kind was measured."""


def sum_kinds(steps: Sequence[Step]) -> list[StepSum]:
    """Adds up the steps of each kind, in the order of a call."""
    sums = {kind: StepSum(kind=kind, count=0) for kind in STEP_KINDS}
    for step in steps:
        kind = sums[step.kind]
        kind.count += 1
        if step.us is not None:
            kind.us = (kind.us or 0.0) + step.us
    whole = sum(kind.us or 0.0 for kind in sums.values())
    for kind in sums.values():
        kind.share = None if kind.us is None or whole <= 0 else kind.us / whole
    return [kind for kind in sums.values() if kind.count]


class Steps(Struct):
    """The steps of one wrapper."""

    artifact: WrapperLanguage
    direction: Direction = "inference"
    steps: list[Step] = []
    kinds: list[StepSum] = []
    """The steps added up by kind."""
    whole_us: float | None = None
    """The whole call of the wrapper, measured in the same rounds."""
    sum_us: float | None = None
    agrees: bool = True
    """Whether the sum is within a tenth of the whole."""
    why: str = ""
    """If the sum does not agree, the possible reason; and what was not measured."""


RouteWay = Literal[
    "",
    "library",
    "shim",
    "dispatcher_cpp",
    "dispatcher_python",
    "function",
    "torch_ops",
    "inlined",
]
LoadTime = Literal["", "compiling", "background", "first_launch"]


class Route(Struct):
    """How generated code calls an operator for which it has no generated kernel."""

    operator: str
    registered: Literal["torch", "cpp", "python", "triton", "unknown"] = "unknown"
    """What implements it: torch itself, a custom C++ library, Python, or a Triton kernel that the
    user wrote."""
    artifact: WrapperLanguage = "python"
    direction: Direction = "inference"
    via: Literal["library", "shim", "dispatcher", "python", "inlined"] = "python"
    """library: ATen called directly. shim: a function of the C shim. dispatcher: boxed, through the
    C++ dispatcher, which calls Python if that implements the operator. python: as a Python
    function. inlined: a kernel of the generated code."""
    lines: list[int] = []
    gil: int = 0
    """The number of times that one call of the wrapper takes the GIL for it."""
    us: float | None = None
    """The overhead of calling it in one call of the wrapper, without the operator's own work, if
    measured."""
    interval_us: tuple[float, float] | None = None
    how: str = ""
    why: str = ""
    remedy: str = ""
    where: SourceLine | None = None
    """Where it was defined, if known."""

    way: RouteWay = ""
    """``via`` in detail, as tables show it."""

    def __post_init__(self) -> None:
        # A file of an earlier version does not hold it.
        self.way = self.way or self._way()

    def _way(self) -> RouteWay:
        if self.via == "dispatcher":
            return "dispatcher_python" if self.registered == "python" else "dispatcher_cpp"
        if self.via != "python":
            return self.via
        if self.artifact == "cpp":
            return "function"
        return "library" if self.operator.startswith("extern_kernels.") else "torch_ops"


class Descriptor(Struct):
    """A TMA descriptor that a kernel reads or writes through (Hopper and later)."""

    name: str
    """The kernel's argument, or the variable in it."""
    built_on: Literal["host", "device"] = msgspec.field(default="device", name="made")
    """Whether the wrapper builds and passes it, or the kernel builds it. Files call it ``made``."""
    shape: list[str] = []
    strides: list[str] = []
    block: list[str] = []
    dtype: str = ""
    built: Literal["once", "each call", "each block"] = "each block"
    line: int | None = None
    """The line of the kernel's source."""
    why: str = ""


LoadStep = Literal["compile", "load", "autotune", "first_run", "later_run"]

LOAD_STEPS: dict[LoadStep, str] = {
    "compile": "compiled",
    "load": "loaded",
    "autotune": "tuned",
    "first_run": "first run",
    "later_run": "later run",
}
"""Step of a kernel → its title."""


class LoadSpan(Struct):
    """When a kernel was compiled, loaded, tuned or launched."""

    step: LoadStep
    start_us: float
    """On the axis of the first call's phases: since the earliest phase began, or, if there is none,
    since the call began. For a later run: since the first launch of that later call began."""
    us: float
    background: bool = False
    """Whether it ran on another thread in parallel."""


class KernelLoad(Struct):
    """How one kernel was compiled, loaded and first run."""

    kernel: str
    compilation: str = ""
    call: int = 1
    """The call of the variant in which it happened; 0: during compilation."""
    started_us: float = 0.0
    """When it began (µs), counted from the start of the first call."""
    compile_us: float | None = None
    load_us: float | None = None
    autotune_us: float | None = None
    first_run_us: float | None = None
    warm_run_us: float | None = None
    """A later launch, on the host."""
    background: bool = False
    """Whether another process or thread compiled it in parallel."""
    cached: bool | None = None
    """Whether it was found in a cache."""
    how: str = ""
    spans: list[LoadSpan] = []
    """The same on the time line. It lacks compilations by another process, for which torch logs the
    duration but not the start. A first run contains the compilations, loads and tuning within
    it."""

    when: LoadTime = ""
    """As tables show it: follows from ``call`` and ``background``."""

    def __post_init__(self) -> None:
        # A file of an earlier version does not hold it.
        if not self.when:
            self.timed()

    def timed(self) -> KernelLoad:
        """Computes ``when`` again, after a change; returns the load."""
        if self.call:
            self.when = "first_launch"
        else:
            self.when = "background" if self.background else "compiling"
        return self
