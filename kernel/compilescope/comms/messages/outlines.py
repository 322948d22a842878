"""What the panel is told of reports before it asks for their parts."""

from __future__ import annotations

from typing import Literal

from ...report import (
    Environment,
    Estimate,
    Overview,
    Peaks,
    Problem,
    Rank,
    SourceLine,
    Speedup,
    Subject,
    Verdict,
)
from ...report.traces import TraceSummary
from ...report.variant import Variant
from .envelopes import Message


class Artifact(Message):
    """Something with text that a report holds, without the text."""

    name: str
    """``python``, ``cpp``, ``shell``, ``backward.python``, ``graph.post_grad``,
    ``kernel.inference.NAME``; of a kernel that was compiled for a target also
    ``kernel.inference.NAME.ptx`` and, for another launch configuration than the usual one,
    ``kernel.inference.NAME.ptx@CONFIGURATION``; of a trace ``raw.EVENT``. Ahead of time, ``aot``
    and the other files of the package: ``package:PATH``."""
    label: str
    group: Literal["code", "graph", "kernel", "raw"]
    """raw: what torch logged, as it is."""
    language: str
    lines: int
    forms: list[str] = []
    """What a kernel was compiled to (`FORMS`): each is an artifact too, which is not listed."""
    configs: list[str] = []
    """The names of its further launch configurations, which were compiled as well."""


class CompilationSummary(Message):
    """A compilation without its texts."""

    id: str
    frame: str
    artifacts: list[Artifact] = []
    guards: int = 0
    breaks: int = 0
    kernels: int = 0
    recompile: list[str] = []
    stages: list[str] = []
    """The stages that it has a graph of."""
    nodes: int = 0
    """Of its largest graph."""
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


class TargetSummary(Message):
    """The device that a variant's code was generated for; nothing runs there."""

    name: str
    """As in `Variant.target`."""
    title: str
    """What its vendor calls it."""
    arch: str = ""
    """As Triton names it: ``90``, ``gfx942``."""
    is_here: bool = False
    estimate: Estimate | None = None
    kernels: int = 0
    """Those that Triton compiles."""
    compiled: int = 0
    checks: dict[str, int] = {}
    """Outcome of a kernel's check → how many kernels have it."""


class ChangedSummary(Message):
    """What a variant changed, in a sentence."""

    baseline: str
    summary: str
    switches: list[str] = []
    """As `Changes.switches`."""


class VariantSummary(Message):
    """A variant without its texts."""

    name: str
    requested: Variant
    stage: str
    median_us: float | None = None
    interval_us: tuple[float, float] | None = None
    speedup: Speedup | None = None
    """Over eager."""
    compile_s: float | None = None
    accurate: bool | None = None
    compilations: list[CompilationSummary] = []
    breaks: int = 0
    """The distinct graph breaks; each of `compilations` counts those that it met."""
    problems: list[Problem] = []
    verdict: Verdict | None = None
    studied: list[str] = []
    """Which studies have been made, by their names in `studies.table`."""
    target: TargetSummary | None = None
    """The device that the code is for, where it is not that of the arguments."""
    filled: list[str] = []
    """The fields of the variant and of its compilations that hold something."""
    changed: ChangedSummary | None = None
    """What it changed against another variant of the report."""
    earlier: bool = False
    """Of an earlier run of the same call, as `VariantReport.earlier`."""
    recorded: bool = False
    """As `VariantReport.recorded`."""


class SweepSummary(Message):
    """How a sweep stands."""

    id: str
    state: Literal["waiting", "running", "done", "cancelled", "failed"]
    cells: int
    finished: int


class ReportSummary(Message):
    """A report without its texts."""

    revision: int
    subject: Subject
    environment: Environment
    variants: list[VariantSummary] = []
    problems: list[Problem] = []
    files: dict[str, str] = {}
    peaks: list[Peaks] = []
    sweep: SweepSummary | None = None
    rank: Rank | None = None
    overview: Overview | None = None
    trace: TraceSummary | None = None
    """Of a trace that is read as it is looked at."""
    asked: list[str] = []
    """The variants that were asked for when the call was inspected last."""
    ready: list[Variant] = []
    """Variants that the report does not have, and whose code is generated already."""


class SubjectSummary(Message):
    """A row of the list of subjects."""

    subject: Subject
    revision: int
    variants: list[str] = []
    problems: int = 0
    group: str = ""
    """What the ranks of one run share."""
    rank: int | None = None
    ranks: int = 0
    """How many ranks the run has."""
