"""The messages between the panel and the kernel, defined once.

Two comms for each client (the reason is in ``docs/protocol.md``): `REQUESTS_TARGET` carries a
request and its reply, published on only inside the handler; `EVENTS_TARGET` carries pushes from the
kernel.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ..report import Environment, Problem, Region, Subject
from ..variant import Choices as Choices
from ..variant import Variant

PROTOCOL_VERSION = 1
REQUESTS_TARGET = "compilescope.requests"
EVENTS_TARGET = "compilescope.events"


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


class Event(Message):
    """A push. ``event`` names one of `EVENTS`; ``data`` is that event's struct."""

    event: str
    data: dict[str, Any] = {}


# --- what the panel is told --------------------------------------------------------------------


class Artifact(Message):
    """Something with text that a report holds, without the text."""

    name: str
    """``python``, ``cpp``, ``shell``, ``backward.python``, ``graph.post_grad``, ``kernel.NAME``."""
    label: str
    group: Literal["code", "graph", "kernel"]
    language: str
    lines: int


class CompilationSummary(Message):
    """A compilation without its texts."""

    id: str
    frame: str
    artifacts: list[Artifact] = []
    guards: int = 0
    breaks: int = 0
    kernels: int = 0
    recompile: list[str] = []


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


class ReportSummary(Message):
    """A report without its texts."""

    revision: int
    subject: Subject
    environment: Environment
    variants: list[VariantSummary] = []
    problems: list[Problem] = []
    files: dict[str, str] = {}


class SubjectSummary(Message):
    """A row of the list of subjects."""

    subject: Subject
    revision: int
    variants: list[str] = []
    problems: int = 0


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


class JobState(Message):
    """A piece of work on the kernel's main thread."""

    id: str
    subject: str
    state: Literal["queued", "running", "done", "cancelled", "failed"] = "queued"
    variant: str = ""
    step: str = ""
    """What it does now: ``cpp: building C++``."""
    fraction: float | None = None
    error: Problem | None = None


class StartRunResult(Message):
    """The job, and the code that starts it."""

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


class SaveReportResult(Message):
    """The file's text, for the browser to save."""

    filename: str
    text: str


class Done(Message):
    """The result of commands that have none."""


COMMANDS: dict[str, tuple[type[Message], type[Message]]] = {
    "hello": (Hello, HelloResult),
    "heartbeat": (Heartbeat, Done),
    "get_report": (GetReport, ReportSummary),
    "get_artifact": (GetArtifact, ArtifactResult),
    "add_variant": (AddVariant, AddVariantResult),
    "start_run": (StartRun, StartRunResult),
    "cancel": (Cancel, Done),
    "forget": (Forget, Done),
    "save_report": (SaveReport, SaveReportResult),
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


EVENTS: dict[str, type[Message]] = {
    "subjects_changed": SubjectsChanged,
    "report_changed": ReportChanged,
    "job_changed": JobChanged,
}
"""Event → its data."""
