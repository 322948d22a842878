"""Work on a subject: its jobs, more variants, builds and studies."""

from __future__ import annotations

from typing import Literal

from ...report import Problem
from ...report.variant import Variant
from .envelopes import Message


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
    elapsed_s: float = 0.0
    """How long it has waited, or run, when this was sent."""
    about_s: int | None = None
    """How long its like took here before, rounded; None where that is not known, or it is short."""
    longest_s: float | None = None
    """The longest that its like took of late: what takes longer takes longer than usual."""


class AddVariant(Message):
    """Asks for the sources of a variant that the report may not have yet.

    Answered at once. Where a capture fits, a thread of its own generates them; if they were there
    within half a second, `AddVariantResult.job` is None. Otherwise, and in a kernel without
    subshells, a job is queued that the panel starts with `AddVariantResult.code`.
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


class StartStudies(Message):
    """Asks for closer looks at variants; `studies.table` names them."""

    subject: str
    studies: list[str]
    variants: list[str] = []
    """All that are built, when none is named."""


class StartRunResult(Message):
    """The job, and the code that starts it: empty where it has begun already."""

    job: JobState
    code: str


class Cancel(Message):
    """Asks the job to stop. The panel also interrupts the kernel, which ends a running compile."""

    job: str
