"""The messages between the panel and the kernel, defined once.

Two comms for each client (the reason is in ``docs/protocol.md``): `REQUESTS_TARGET` carries a
request and its reply, published on only inside the handler; `EVENTS_TARGET` carries pushes from the
kernel.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..checkup import Checkup
from ..report import (
    Compilation,
    Environment,
    Estimate,
    Graph,
    Guard,
    Peaks,
    Problem,
    Rank,
    Region,
    SourceLine,
    Subject,
    Sweep,
    VariantReport,
    Verdict,
)
from ..variant import Choices as Choices
from ..variant import Variant

PROTOCOL_VERSION = 1
REQUESTS_TARGET = "compilescope.requests"
EVENTS_TARGET = "compilescope.events"
PART_BYTES = 900_000
"""No message over the comm is longer than a megabyte: the line is shared with the notebook."""


class Message(msgspec.Struct, kw_only=True):
    """The base of all messages."""


# --- envelopes ---------------------------------------------------------------------------------


class Request(Message):
    """From the panel. ``command`` is one of `COMMANDS`; ``arguments`` is that command's struct."""

    version: int
    client: str
    id: str
    command: str
    arguments: dict[str, Any] = {}


class Reply(Message):
    """To the panel: ``result`` is the command's result, or ``error`` says why there is none."""

    id: str
    result: dict[str, Any] | None = None
    error: Problem | None = None


class ReplyPart(Message):
    """A piece of a reply that is longer than `PART_BYTES`.

    The pieces' texts, one after the other, are the reply as JSON.
    """

    id: str
    part: int
    """From 0."""
    parts: int
    text: str


class Event(Message):
    """A push. ``event`` names one of `EVENTS`; ``data`` is that event's struct."""

    event: str
    data: dict[str, Any] = {}


# --- what the panel is told --------------------------------------------------------------------


class Artifact(Message):
    """Something with text that a report holds, without the text."""

    name: str
    """``python``, ``cpp``, ``shell``, ``backward.python``, ``graph.post_grad``,
    ``kernel.inference.NAME``; of a kernel that was compiled for a target also
    ``kernel.inference.NAME.ptx`` and, for another launch configuration than the usual one,
    ``kernel.inference.NAME.ptx@CONFIGURATION``. Ahead of time, ``aot`` and the other files of the
    package: ``package:PATH``."""
    label: str
    group: Literal["code", "graph", "kernel"]
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
    ratio: float | None = None
    compile_s: float | None = None
    accurate: bool | None = None
    compilations: list[CompilationSummary] = []
    problems: list[Problem] = []
    ratio_interval: tuple[float, float] | None = None
    differs: bool | None = None
    verdict: Verdict | None = None
    studied: list[str] = []
    """Which of `STUDIES` have been made."""
    target: TargetSummary | None = None
    """The device that the code is for, where it is not that of the arguments."""
    filled: list[str] = []
    """The fields of the variant and of its compilations that hold something."""
    changed: ChangedSummary | None = None
    """What it changed against another variant of the report."""


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


# --- commands ----------------------------------------------------------------------------------


class Hello(Message):
    """The first request on a new comm; every later one carries the same client id."""


class HelloResult(Message):
    """Everything a fresh panel needs."""

    protocol: int
    package: str
    torch: str
    choices: Choices
    subjects: list[SubjectSummary] = []
    job: JobState | None = None
    watching: WatchState | None = None


class Heartbeat(Message):
    """The panel is alive. A client that says nothing for three minutes is forgotten."""


class GetReport(Message):
    """Asks for the summary of a subject's report."""

    subject: str


class GetArtifact(Message):
    """Asks for one artifact's text."""

    subject: str
    variant: str
    compilation: str
    artifact: str


class ArtifactResult(Message):
    """An artifact's text, and what its lines mean."""

    artifact: Artifact
    text: str
    regions: list[Region] = []
    lines: list[int] = []
    """Of a compiled kernel: for each line of the text, the line of ``source`` that it came from; 0
    where none is known."""
    source: str = ""
    """Of a compiled kernel: its source."""


class GetVariant(Message):
    """Asks for a variant with its compilations in outline.

    That is what every one is, why it was made and what broke, without code, graphs and `PARTS`.
    """

    subject: str
    variant: str


class VariantResult(Message):
    """The report's own struct, the large parts of its compilations left out."""

    revision: int
    variant: VariantReport


class GetCompilation(Message):
    """Asks for some parts of a compilation; see `PARTS`."""

    subject: str
    variant: str
    compilation: str
    parts: list[str]


class CompilationResult(Message):
    """The report's own struct with the parts that were asked for.

    Kernels come without their source and assembly, which are artifacts; of the assembly the forms
    that there are stay, without their texts.
    """

    revision: int
    compilation: Compilation


class GetGraph(Message):
    """Asks for a stage's graph."""

    subject: str
    variant: str
    compilation: str
    stage: str


class GraphResult(Message):
    """The report's own struct without the graph's text, which is an artifact."""

    revision: int
    graph: Graph


class WhatIf(Message):
    """Asks which guards would fail for other arguments; runs and compiles nothing of the user's.

    ``arguments`` is Python as written in a call: ``x[:2], scale=3.0``. Its names are the
    notebook's.
    """

    subject: str
    variant: str
    arguments: str
    compilation: str = ""
    """Of a watch, the compilation whose function would be called; a subject has its own call."""


class GuardOutcome(Message):
    """What one compilation's guards say."""

    compilation: str
    passes: bool
    guard: Guard | None = None
    """The first that fails."""
    place: int | None = None
    """Its place in the compilation's guards, where it is there."""
    expected: str = ""
    found: str = ""
    message: str = ""
    """torch's own words."""


class WhatIfResult(Message):
    """What would happen at a call with these arguments."""

    arguments: list[str]
    """One line an argument, as in `Subject.arguments`."""
    verdict: Literal["reuse", "recompile", "limit", "unknown"]
    reuses: str = ""
    """The compilation that would serve the call."""
    outcomes: list[GuardOutcome] = []
    """In the order in which torch tries them."""
    why: str = ""


class SetWatch(Message):
    """Turns watching on or off."""

    on: bool
    clear: bool = False
    """Whether to empty what was seen first."""


class WatchedCompilation(Message):
    """A compilation that was seen just now, in a line: nothing has been read of it yet."""

    id: str
    frame: SourceLine | None = None
    started_s: float | None = None
    """Since the epoch."""
    duration_s: float | None = None
    """None while it is being compiled."""
    breaks: int = 0
    recompile: str = ""
    """The first guard that failed; empty for a frame's first compilation."""
    failed: str = ""
    """Why torch gave up, where it did."""
    cell: str | None = None
    cell_number: int | None = None
    call: SourceLine | None = None


class WatchState(Message):
    """Whether the kernel is watched, and since when."""

    on: bool
    subject: str = ""
    """The subject under which the panel shows what was compiled; stays when watching ends."""
    since_s: float | None = None
    compilations: int = 0
    reduced: int = 0
    """How many compilations were reduced to an outline, to bound memory."""
    held_bytes: int = 0
    """About how much is held."""
    problem: Problem | None = None
    """What went wrong in watching; the user's code went on."""
    budget_bytes: int = 0
    """What may be held."""
    left_out: int = 0
    """How many of the oldest are only counted: not even their outline is held."""
    recompiles: int = 0
    breaks: int = 0
    seconds: float = 0.0
    """Spent in compiling, backward included."""
    latest: list[WatchedCompilation] = []
    """The last few, newest first."""


class AddVariant(Message):
    """Asks for the sources of a variant that the report may not have yet.

    Answered from the capture, in the subshell, when a capture fits (`AddVariantResult.job` is
    None). Otherwise a job is queued that the panel starts with `AddVariantResult.code`.
    """

    subject: str
    variant: Variant


class AddVariantResult(Message):
    """The variant's name in the report; or the job that will make it."""

    name: str
    revision: int
    job: JobState | None = None
    code: str = ""
    """What to execute, silently, on the main shell, to start the job. Empty: nothing to start."""


class StartRun(Message):
    """Asks to build, check and time variants (all that the report has, when none is named)."""

    subject: str
    variants: list[str] = []


class StartMeasure(Message):
    """Asks to time variants in turns with eager, their samples streamed while it goes on.

    Samples are added to those of the last measurement where the same variants are still built;
    otherwise it begins anew. Eager is always among them.
    """

    subject: str
    variants: list[str] = []
    """All that can be built, when none is named."""
    seconds: float = 10.0
    """Ends by itself after about so long; cancelling ends it earlier and loses nothing."""
    again: bool = False
    """Begins anew also where it could go on."""


class StartStudies(Message):
    """Asks for closer looks at variants; see `STUDIES`."""

    subject: str
    studies: list[str]
    variants: list[str] = []
    """All that are built, when none is named."""


class GetMeasurement(Message):
    """Asks for the samples of a subject's measurement, from a round on."""

    subject: str
    since: int = 0
    """The first round wanted."""


class Series(Message):
    """A variant in a measurement."""

    name: str
    first: int = 0
    """The round that its first sample is of: a variant may have joined the others later."""
    samples_us: list[float] = []
    """Of the rounds from `Measurement.since` on; a sample is a batch of calls, in µs a call."""
    median_us: float | None = None
    """Of all rounds, as all that follows."""
    interval_us: tuple[float, float] | None = None
    ratio: float | None = None
    ratio_interval: tuple[float, float] | None = None
    differs: bool | None = None
    calls_per_sample: int = 1
    warmup_calls: int = 0
    settled: bool = True
    device: str = "cpu"
    host_us: float | None = None
    device_us: float | None = None


class Measurement(Message):
    """A measurement, as it stands. What a panel has, it completes by what comes."""

    subject: str
    id: str = ""
    """Another one when it began anew: what a panel has, is of no use then."""
    state: Literal["none", "building", "warming", "running", "paused", "done"] = "none"
    """paused: ended early. Going on adds to it."""
    since: int = 0
    rounds: int = 0
    baseline: str = "eager"
    series: list[Series] = []
    fraction: float | None = None
    """Of the seconds asked for."""
    problem: Problem | None = None


class StartSweep(Message):
    """Asks for a sweep of a subject; it runs beside the kernel's main thread."""

    subject: str
    variants: list[Variant]
    shapes: dict[str, str] = {}
    """Name → the arguments as written in a call; the subject's own where there are none."""
    timeout_s: float = 300.0
    """For a cell."""
    memory_gb: float | None = None
    workers: int = 1
    seconds: float = 2.0
    """Of measuring, a cell."""
    resume: bool = True
    """Take over finished cells."""


class CancelSweep(Message):
    """Asks a sweep to end; its finished cells stay."""

    subject: str


class GetSweep(Message):
    """Asks for a subject's sweep."""

    subject: str


class SweepResult(Message):
    """The report's own struct; samples of timings are left out."""

    subject: str
    sweep: Sweep | None = None


class JobState(Message):
    """A piece of work on the kernel's main thread, or beside it."""

    id: str
    subject: str
    state: Literal["queued", "running", "done", "cancelled", "failed"] = "queued"
    variant: str = ""
    step: str = ""
    """What it does now: ``cpp: building C++``."""
    fraction: float | None = None
    error: Problem | None = None
    kind: Literal["build", "measure", "study"] = "build"
    aside: bool = False
    """It runs beside the main thread, and ends by itself once it is cancelled: an interrupt would
    meet the user's cell."""


class StartRunResult(Message):
    """The job, and the code that starts it: empty where it has begun already."""

    job: JobState
    code: str


class Cancel(Message):
    """Asks the job to stop. The panel also interrupts the kernel, which ends a running compile."""

    job: str


class Forget(Message):
    """Drops a subject, its report and its captures."""

    subject: str


class SaveReport(Message):
    """Asks for the whole report as JSON or as one HTML file."""

    subject: str
    format: Literal["json", "html"] = "json"
    redact: bool = False
    """Without paths and source code."""


class SaveReportResult(Message):
    """The file's text, for the browser to save."""

    filename: str
    text: str


class GetCheckup(Message):
    """Asks how the kernel's surroundings are: what is found by now, of a checkup that goes on."""

    front_end: str = ""
    """The panel's version."""
    again: bool = False
    """Begins anew, if none is under way."""


class CheckupResult(Message):
    """The checkup; ask again while there is something in its ``waiting``."""

    checkup: Checkup


class Done(Message):
    """The result of commands that have none."""


COMMANDS: dict[str, tuple[type[Message], type[Message]]] = {
    "hello": (Hello, HelloResult),
    "heartbeat": (Heartbeat, Done),
    "get_report": (GetReport, ReportSummary),
    "get_artifact": (GetArtifact, ArtifactResult),
    "get_variant": (GetVariant, VariantResult),
    "get_compilation": (GetCompilation, CompilationResult),
    "get_graph": (GetGraph, GraphResult),
    "what_if": (WhatIf, WhatIfResult),
    "set_watch": (SetWatch, WatchState),
    "add_variant": (AddVariant, AddVariantResult),
    "start_run": (StartRun, StartRunResult),
    "start_measure": (StartMeasure, StartRunResult),
    "get_measurement": (GetMeasurement, Measurement),
    "start_studies": (StartStudies, StartRunResult),
    "start_sweep": (StartSweep, SweepResult),
    "cancel_sweep": (CancelSweep, Done),
    "get_sweep": (GetSweep, SweepResult),
    "cancel": (Cancel, Done),
    "forget": (Forget, Done),
    "save_report": (SaveReport, SaveReportResult),
    "get_checkup": (GetCheckup, CheckupResult),
}
"""Command → its arguments and its result."""


# --- events ------------------------------------------------------------------------------------


class SubjectsChanged(Message):
    """The list of subjects is now this one."""

    subjects: list[SubjectSummary]
    focus: str | None = None
    """The subject that was just inspected in a cell: the panel turns to it."""


class ReportChanged(Message):
    """A report has something new; ``variant`` names what, when it is one variant."""

    subject: str
    revision: int
    variant: str | None = None


class JobChanged(Message):
    """A job moved on."""

    job: JobState


class WatchChanged(Message):
    """Watching began, ended or went on; at most a few times a second."""

    watch: WatchState


class Measured(Message):
    """A measurement went on; at most a few times a second."""

    measurement: Measurement


class SweepChanged(Message):
    """A sweep went on: some cells are as given here now."""

    subject: str
    sweep: Sweep
    """Without the cells that have not changed, and without samples."""


STUDIES = (
    "layers",
    "kernels",
    "steps",
    "routes",
    "startups",
    "cold",
    "package",
    "aot",
    "accuracy",
    "assembly",
    "check",
)
"""layers: where one call's time goes. kernels: each launch's time. steps: what
each step of a wrapper costs the host. routes: what reaching custom
operators costs. startups: first calls in
processes of their own. cold: what settings change in a first call. package: the sources
of a package compiled ahead of time. aot: that package built and timed. accuracy: against eager in
higher precision. Of a variant for a target, assembly: its kernels compiled. check: its kernels
interpreted and compared."""

PARTS = (
    "guards",
    "kernels",
    "phases",
    "autotunings",
    "crossings",
    "steps",
    "memory",
    "decompositions",
)
"""The parts of a compilation that `GetCompilation` knows. ``guards`` brings the guard tree with it,
``kernels`` the decisions, ``phases`` the warm ones too."""

EVENTS: dict[str, type[Message]] = {
    "subjects_changed": SubjectsChanged,
    "report_changed": ReportChanged,
    "job_changed": JobChanged,
    "watch_changed": WatchChanged,
    "measured": Measured,
    "sweep_changed": SweepChanged,
}
"""Event → its data."""
