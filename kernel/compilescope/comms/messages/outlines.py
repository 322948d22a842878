"""The outlines of reports that the panel gets before it asks for their parts."""

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


class TargetSummary(Message):
    """The device that a variant's code was generated for. No code runs on it."""

    name: str
    """As in `Variant.target`."""
    title: str
    """What its vendor calls it."""
    arch: str = ""
    """As Triton names it: ``90``, ``gfx942``."""
    is_here: bool = False
    estimate: Estimate | None = None
    kernels: int = 0
    """The kernels that Triton compiles."""
    compiled: int = 0
    checks: dict[str, int] = {}
    """Outcome of a kernel's check → how many kernels have it."""


class ChangedSummary(Message):
    """The differences of a variant, in a sentence."""

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


class SweepSummary(Message):
    """The state of a sweep."""

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
    """For a trace that is read on demand."""
    asked: list[str] = []
    """The variants that the last inspection of the call requested."""
    ready: list[Variant] = []
    """Variants that the report does not have but whose code is already generated."""


class SubjectSummary(Message):
    """A row of the list of subjects."""

    subject: Subject
    revision: int
    variants: list[str] = []
    problems: int = 0
    group: str = ""
    """The id that the ranks of one run share."""
    rank: int | None = None
    ranks: int = 0
    """How many ranks the run has."""
