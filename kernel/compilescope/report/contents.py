"""Summaries of a report's variants, and the contents of its file for a panel without a kernel.

The panel of a live report asks for summaries and texts one at a time. A file has both: the same
summaries, and the position of each text in the file.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from .compilation.artifacts import Outcome
from .measurements.timings import Speedup, Verdict
from .overview import Count
from .problem import ListedProblem, Problem, SourceLine, Struct
from .target import Estimate
from .variant import Variant


class Artifact(Struct):
    """A text of a report, described without its content."""

    name: str
    """``python``, ``cpp``, ``shell``, ``backward.python``, ``graph.post_grad``,
    ``kernel.inference.NAME``; of a kernel that was compiled for a target also
    ``kernel.inference.NAME.ptx`` and, for another launch configuration than the usual one,
    ``kernel.inference.NAME.ptx@CONFIGURATION``; of a trace ``raw.EVENT``. Ahead of time, ``aot``
    and the other files of the package: ``package:PATH``."""
    label: str
    group: Literal["code", "graph", "kernel", "raw"]
    """raw: a record that torch logged."""
    language: str
    lines: int
    forms: list[str] = []
    """The compiled forms of a kernel (`FORMS`): each is also an artifact, which is not listed."""
    configs: list[str] = []
    """The names of its other launch configurations that were compiled."""


class CompilationSummary(Struct):
    """A compilation without its texts."""

    id: str
    frame: str
    name: str = ""
    """Of the frame: its function, or ``f from line 9`` after a graph break."""
    artifacts: list[Artifact] = []
    guards: int = 0
    breaks: int = 0
    kernels: int = 0
    recompile: list[str] = []
    """Why it was compiled again, in words, the newest cause first."""
    stages: list[str] = []
    """The stages that it has a graph of."""
    nodes: int = 0
    """The number of nodes of its largest graph."""
    started_s: float | None = None
    duration_s: float | None = None
    cell: str | None = None
    call: SourceLine | None = None
    where: SourceLine | None = None
    """The frame."""
    reduced: str = ""
    torch_id: str = ""
    cell_number: int | None = None
    caches: dict[str, str] = {}
    """Cache → its answer: hit, miss or bypass."""
    outcome: Outcome = "compiled"
    outcome_words: str = ""
    """``fell back to eager``; empty if it was compiled."""


class TargetSummary(Struct):
    """The device that a variant's code was generated for. No code runs on it."""

    name: str
    """The target's name, as `Variant.target`."""
    title: str
    """What its vendor calls it."""
    arch: str = ""
    """As `devices.arch_name`: ``sm_90``, ``gfx942``."""
    is_here: bool = False
    estimate: Estimate | None = None
    kernels: int = 0
    """The kernels that Triton compiles."""
    compiled: int = 0
    checks: dict[str, int] = {}
    """Outcome of a kernel's check → how many kernels have it."""
    call_words: str = ""
    """The estimated time of a call, ``≥ 16.0 µs``, or ``no estimate``."""
    estimated: list[str] = []
    """A note that nothing ran there, and the estimate with its method, in sentences."""
    checked: str = ""
    """How many kernels were checked and the outcomes, in a sentence; empty if none was."""


class ChangedSummary(Struct):
    """The differences of a variant, in a sentence."""

    baseline: str
    summary: str
    switches: list[str] = []
    """As `Changes.switches`."""


class VariantSummary(Struct):
    """A variant without its texts."""

    name: str
    requested: Variant
    stage: str
    stage_words: str = ""
    """``built and run``, ``3 of 5 kernels compiled, not run``."""
    median_us: float | None = None
    interval_us: tuple[float, float] | None = None
    latency: str = ""
    """The median in words, or the interval if that is so wide that the median means little."""
    speedup: Speedup | None = None
    """Over eager."""
    compile_s: float | None = None
    accurate: bool | None = None
    compilations: list[CompilationSummary] = []
    recompiles: int = 0
    breaks: int = 0
    """The distinct graph breaks; each of `compilations` counts those that it met."""
    recompile_count: Count | None = None
    """The recompiles in words: its own, or those of later calls or of the cell."""
    break_count: Count | None = None
    """The graph breaks in words: its own, or those of the cell if it has more."""
    problems: list[Problem] = []
    verdict: Verdict | None = None
    studied: list[str] = []
    """The names, as in `studies.table`, of the studies that have been run."""
    target: TargetSummary | None = None
    """The device that the code is for, if it differs from the arguments' device."""
    filled: list[str] = []
    """The fields of the variant and of its compilations that are not empty."""
    changed: ChangedSummary | None = None
    """Its differences from another variant of the report."""
    earlier: bool = False
    """Of an earlier run of the same call, as `VariantReport.earlier`."""
    recorded: bool = False
    """As `VariantReport.recorded`."""
    has_cpp_wrapper: bool = False
    """Whether its wrapper is in C++."""
    other_wrapper: str = ""
    """The variant whose wrapper is compared with this one's: a C++ wrapper for a Python wrapper,
    and the reverse. Empty if there is none."""


class Sides(Struct):
    """The names of the two variants that are shown side by side.

    Both are the same if there is only one, and empty if no variant is compiled.
    """

    left: str = ""
    right: str = ""


class SweepSummary(Struct):
    """The state of a sweep."""

    id: str
    state: Literal["waiting", "running", "done", "cancelled", "failed"]
    cells: int
    finished: int


class StoredText(Artifact, kw_only=True, omit_defaults=True):
    """An artifact, and where its text is: a path of fields, keys and indices from its compilation.

    ``code/backward/cpp``, ``kernels/3/assembly/ptx``; of a package's file from its variant.
    """

    text: str
    regions: str = ""
    """Where `ArtifactResult.regions` are; empty if there are none. So for the next two."""
    text_lines: str = ""
    source: str = ""
    listed: bool = True
    """Whether summaries list it. A kernel's compiled forms and a package's files are not listed."""

    def artifact(self) -> Artifact:
        """The description alone."""
        return Artifact(**{name: getattr(self, name) for name in Artifact.__struct_fields__})


class StoredCompilation(Struct):
    """The texts of a compilation."""

    texts: list[StoredText] = []
    absent: dict[str, str] = {}
    """Artifact that it does not have, or ``backward`` → where the reason is."""


class StoredVariant(Struct):
    """A variant's summary and its texts."""

    summary: VariantSummary
    """The artifacts of its compilations are not listed again: they are the listed texts."""
    compilations: list[StoredCompilation] = []
    """The stored compilations, in the order of the variant's compilations."""
    package: list[StoredText] = []
    """The texts of its package."""


class Contents(Struct):
    """The data that a panel without a kernel needs in addition to the report."""

    variants: list[StoredVariant] = []
    sweep: SweepSummary | None = None
    problems: int = 0
    """The length of `listed_problems`."""
    listed_problems: list[ListedProblem] = []
    """The problems of the report and of its variants, each once, the worst first."""
    sides: Sides = msgspec.field(default_factory=Sides)
    """The variants that are shown side by side until the user chooses others."""
