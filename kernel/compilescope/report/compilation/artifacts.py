"""The artifacts of one compilation, as plain typed structs: a part of the report.

The rules are the report's: fields are only ever added, with a default. Line numbers count from 1.
Units are in the names (``_ns``, ``_us``, ``_s``, ``_bytes``).
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ..problem import SourceLine, Struct
from ..target import Decision
from .breaks import Break
from .code import Code, Kernel, Language
from .graphs import Graph
from .guards import Condition, Guard, GuardManager, Recompile
from .parts import Direction, Part, WrapperLanguage, fields_of
from .phases import KindTime, Phase
from .plans import Decomposition, LayoutChange, Memory
from .symbolic_shapes import ShapeDecision, ShapeExpression, ShapeSymbol
from .wrapper_steps import Route, Steps

Outcome = Literal["compiled", "failed", "eager"]
"""How a compilation ended. failed: torch raised the error. eager: torch ran the frame in eager."""


class Choice(Struct):
    """One candidate of an autotuning."""

    name: str
    kind: str = ""
    """One of `CHOICE_KINDS`, or another of torch's: ``cutlass template``."""
    time_us: float | None = None
    chosen: bool = False
    config: dict[str, str] = {}
    """Block sizes, warps, stages, the micro-kernel: as torch names them."""
    why: str = ""
    """Why it lost or was not measured: ``1.8 times the best``, ``out of shared memory``."""


class Autotuning(Struct):
    """A choice that torch makes, or would make, by measuring."""

    operator: str
    kind: Literal["algorithm", "config"] = "algorithm"
    """algorithm: library call or template. config: the launch configuration of one kernel."""
    kernel: str = ""
    """The resulting kernel, as in `Kernel.name`."""
    inputs: list[str] = []
    """``float32[128, 64] cpu``."""
    choices: list[Choice] = []
    duration_s: float | None = None
    skipped: str = ""
    """Why nothing was measured."""


class Crossing(Struct):
    """An operator that generated code calls through Python's dispatcher, which takes the GIL."""

    operator: str
    artifact: WrapperLanguage = "cpp"
    lines: list[int] = []
    direction: Direction = "inference"
    why: str = ""
    remedy: str = ""


class CacheEvent(Struct):
    """A hit, miss or bypass of one of torch's compile caches."""

    cache: str
    outcome: Literal["hit", "miss", "bypass"]
    key: str = ""
    detail: str = ""


class RawEvent(Struct):
    """A raw record that torch logged and that no other view shows."""

    name: str
    """torch's name for it; ``NAME (2)`` if there are several with separate texts."""
    count: int = 1
    """How many records without a separate text are joined here, one per line."""
    attempt: int = 0
    size_bytes: int = 0
    language: Language = "text"
    text: str = ""


class Compilation(Struct, weakref=True):
    """One Dynamo frame compiled once."""

    id: str
    """torch's compile id: ``0/0``, after a recompile ``0/1``."""
    attempt: int = 0
    """The number of times that Dynamo restarted the analysis of the frame before this attempt."""
    frame: SourceLine | None = None
    """The first line of the compiled function."""
    graphs: dict[str, Graph] = {}
    """Stage → graph; the stages are `STAGES`."""
    code: Code = msgspec.field(default_factory=Code)
    """The generated wrappers."""
    kernels: Annotated[list[Kernel], Part("kernels")] = []
    """The kernels that its wrappers launch."""
    guards: Annotated[
        list[Guard],
        Part("guards", absent="torch logged no guards: the frame was not kept as compiled code."),
    ] = []
    """The guards of the compilation, in the order in which torch checks them."""
    breaks: list[Break] = []
    """The graph breaks of the frame."""
    outcome: Outcome = "compiled"
    """Whether it failed, and whether torch then ran the frame in eager."""
    runs: int = 0
    """How often the inspected call ran its graph; 0 if that was not counted."""
    recompile: Recompile | None = None
    """Why the frame was compiled again; None for its first compilation."""
    phases: Annotated[
        list[Phase], Part("phases", absent="torch logged no times for this compilation.")
    ] = []
    """The phases of the compile time, as a tree."""
    cache: list[CacheEvent] = []
    """The hits, misses and bypasses of torch's compile caches."""
    absent: dict[str, str] = {}
    """Name of an empty field → why it is empty."""
    guard_tree: Annotated[list[GuardManager], Part("guards")] = []
    """Parents before children."""
    autotunings: Annotated[list[Autotuning], Part("autotunings")] = []
    """Candidates that Inductor benchmarked to choose a kernel or a configuration."""
    crossings: Annotated[list[Crossing], Part("crossings")] = []
    """Operators that the generated code calls through Python's dispatcher."""
    warm_phases: Annotated[list[Phase], Part("phases")] = []
    """The phases of the same compilation with warm caches."""
    warm_cache: list[CacheEvent] = []
    """The cache events of the same compilation with warm caches."""
    phase_times: Annotated[list[KindTime], Part("phases")] = []
    """The phases added up by kind, in the order of `PHASE_KINDS`."""
    warm_phase_times: Annotated[list[KindTime], Part("phases")] = []
    """The phases with warm caches, added up likewise."""
    started_s: float | None = None
    """When it began, in seconds since the epoch."""
    duration_s: float | None = None
    """Its compile time (s), with that of its backward if torch compiled it."""
    cell: str | None = None
    """The id of the notebook cell that was running, if a watch recorded it."""
    call: SourceLine | None = None
    """The line with the ``torch.compile`` call that caused it."""
    reduced: str = ""
    """Which parts were dropped to limit memory, and when; empty for a complete compilation."""
    counts: dict[str, int] = {}
    """The numbers of graphs, nodes (in the largest graph), kernels, guards and lines of code before
    it was reduced."""
    torch_id: str = ""
    """torch's own compile id, if ``id`` differs from it: ``torch._dynamo.reset()`` restarts torch's
    numbering, and a cell's compilations are numbered from 0."""
    cell_number: int | None = None
    """The number of the cell's execution: ``In[3]``."""
    decisions: Annotated[list[Decision], Part("kernels")] = []
    """Choices for which torch would run benchmarks on the target, which is not present."""
    steps: Annotated[list[Steps], Part("steps")] = []
    """The steps of each wrapper."""
    routes: Annotated[list[Route], Part("crossings")] = []
    """How the wrappers call operators that have no generated kernel."""
    memory: Annotated[list[Memory], Part("memory")] = []
    """The memory use of each wrapper during a call."""
    layouts: Annotated[list[LayoutChange], Part("memory")] = []
    """Copies that only change strides, and strides that Inductor chose."""
    decompositions: Annotated[list[Decomposition], Part("decompositions")] = []
    """Operators that were decomposed, and into which."""
    conditions: Annotated[list[Condition], Part("guards")] = []
    """What its guards require, in plain words: the inputs, then values, then groups of guards."""
    symbols: Annotated[list[ShapeSymbol], Part("shapes")] = []
    """The symbolic sizes, with their values and ranges."""
    shape_decisions: Annotated[list[ShapeDecision], Part("shapes")] = []
    """torch's decisions about them, in order: a specialization, a guard, a range."""
    expressions: Annotated[list[ShapeExpression], Part("shapes")] = []
    """Expressions of symbols, operands first. torch logs them only in ``draft_export``."""
    raw: list[RawEvent] = []
    """For a trace: the remaining records that torch logged."""

    @property
    def source_files(self) -> set[str]:
        """The files of the source lines of its frame, kernels, graphs and graph breaks."""
        lines = [] if self.frame is None else [self.frame]
        lines += [line for kernel in self.kernels for line in kernel.sources]
        lines += [
            line for graph in self.graphs.values() for node in graph.nodes for line in node.sources
        ]
        lines += [line for graph_break in self.breaks for line in graph_break.stack]
        return {line.file for line in lines}


COMPILATION_PARTS: dict[str, Part] = fields_of(Compilation)
"""Field of a compilation → the part that it belongs to."""

PARTS: dict[str, tuple[str, ...]] = {
    part.name: tuple(field for field, of in COMPILATION_PARTS.items() if of.name == part.name)
    for part in COMPILATION_PARTS.values()
}
"""Part of a compilation → its fields."""

CHOICE_KINDS: dict[str, str] = {
    "extern": "extern call",
    "triton template": "Triton template",
    "cpp template": "C++ template",
    "config": "configuration",
}
"""Kind of a `Choice` → its title."""
