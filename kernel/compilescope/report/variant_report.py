"""The results of one variant of a subject."""

from __future__ import annotations

from typing import Literal

from .changes import Changes
from .compilation.artifacts import Compilation
from .compilation.breaks import Break
from .compilation.cuda_graphs import CudaGraphs
from .compilation.wrapper_steps import KernelLoad
from .measurements.accuracy import FirstWrongKernel, OutputError
from .measurements.deployment import DeployWay
from .measurements.timings import (
    ColdSwitch,
    CompileTime,
    Layers,
    Payback,
    Startup,
    Timing,
    Verdict,
)
from .problem import Problem, Struct
from .subjects.package import Package
from .target import TargetReport
from .variant import Effective, Variant


class DistinctBreak(Struct):
    """A graph break, with all compilations in which it occurred."""

    cause: Break
    count: int = 1
    wasted_us: float | None = None
    """Its cost: the compile time of the attempts that it ended, of which nothing was used (µs).
    Those of recompiles are left out: their time is the recompiles' cost. The least of all variants
    that have the break. None if there are none."""
    after_us: float | None = None
    """Compile time of the code after it (µs), without recompiles. It is not a cost of the break:
    without the break, that code is compiled together with the code before it."""
    before: list[str] = []
    """Compile ids of the graphs that end at it."""
    after: list[str] = []
    """Compile ids of the code compiled after it."""
    eager: list[str] = []
    """The code that runs in eager because of it."""
    advice: list[str] = []
    """What to do about it: torch's hints, corrected where they do not help."""
    code: str = ""
    """What ends it, as code to paste; empty if there is none."""
    place: str = ""
    """Where to paste it."""
    intended: bool = False
    """Whether torch breaks the graph there on purpose, so that there is nothing to change."""


class VariantReport(Struct):
    """The results of one variant of the subject."""

    name: str
    """Its name in the report: ``python``, ``cpp``, or as the caller named it."""
    requested: Variant
    """The requested settings."""
    stage: Literal["captured", "sources", "built", "failed"] = "sources"
    """``captured``: graphs captured, their code is being generated. ``sources``: code generated,
    nothing built. ``built``: built, run and timed. ``failed``: ``problems`` says why."""
    effective: list[Effective] = []
    """Settings with their requested and effective values."""
    config: dict[str, str] = {}
    """Settings in force that differ from torch's defaults."""
    compilations: list[Compilation] = []
    """Its compilations, in the order in which torch made them."""
    compile_time: CompileTime | None = None
    """The time of the first call, and its parts."""
    warm_compile_time: CompileTime | None = None
    """The first call repeated with a fresh Dynamo and the caches that the first one filled."""
    breaks: list[DistinctBreak] = []
    """Each distinct graph break once, those that waste the most compile time first
    (`DistinctBreak.wasted_us`), intended ones (`DistinctBreak.intended`) last."""
    timing: Timing | None = None
    """The latency of later calls; None until the variant is timed."""
    has_backward: bool = False
    """Whether a backward follows the call, because its result requires a gradient. It is compiled
    and compared with eager's, and is no part of the latency."""
    layers: list[Layers] = []
    """How the time of a call divides into layers: for inference, or for forward and backward."""
    verdict: Verdict | None = None
    """What limits the latency: launches, memory bandwidth, arithmetic, overhead."""
    startups: list[Startup] = []
    """First calls in separate processes, with cold and with warm caches."""
    paybacks: list[Payback] = []
    """After how many calls the saved time exceeds the compile time."""
    accuracy: list[OutputError] = []
    """The differences of its outputs and gradients from eager's."""
    first_wrong_kernel: FirstWrongKernel | None = None
    """The first kernel with a wrong result, if the study ``accuracy`` found one."""
    studied: list[str] = []
    """Names of the studies that were run: ``layers``, ``kernels``, ``accuracy``."""
    target: TargetReport | None = None
    """The device that the code is for, if it differs from the arguments' device."""
    problems: list[Problem] = []
    """Problems of this variant: compile errors, wrong results, settings without effect."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    changes: Changes | None = None
    """Its differences from another variant of the report."""
    cuda_graphs: CudaGraphs | None = None
    """Whether CUDA graphs are used, and why not where torch skips them."""
    kernel_loads: list[KernelLoad] = []
    """How each kernel was compiled, loaded and first run."""
    cold: list[ColdSwitch] = []
    """How settings change the first call's time."""
    cold_gain: str = ""
    """One sentence: which of these settings shorten the first call most."""
    ways: list[DeployWay] = []
    """The ways to deploy the call, compared."""
    best_way: str = ""
    """Which of these ways is recommended for which objective, in a sentence, or why none is."""
    ways_not_tried: list[str] = []
    """Names of the ways that could be tried here but were not: they were not selected, or the study
    was canceled before them."""
    ways_remarks: list[str] = []
    """What explains the figures of the ways, in a sentence or two each: that the C++ compiler runs
    again as shipped, and that the machine was not equally fast for all ways."""
    package: Package | None = None
    """The subject compiled ahead of time."""
    earlier: bool = False
    """Whether it is from an earlier inspection of the same call, with other variants."""
    recorded: bool = False
    """Whether it contains the compilations of the user's own running code, without a call to build
    or time."""


AS_WRITTEN = "as written"
"""The name of the variant with the settings of the user's own ``torch.compile``, if no other
variant has them, and of a watch's only variant."""
IN_CELL = "in the cell"
"""The name of the variant with the compilations of the user's cell itself."""


def is_record(variant: VariantReport) -> bool:
    """Whether a variant has the compilations of the running user code and no settings to compare.

    Reports of earlier versions have no such field: there the name decides.
    """
    watched = variant.name == AS_WRITTEN and variant.requested == Variant()
    return variant.recorded or watched or variant.name == IN_CELL
