"""Work on a subject: its jobs, more variants, builds and studies."""

from __future__ import annotations

from typing import Literal

from ...report import Problem
from ...report.measurements.study_choice import StudyChoice
from ...report.variant import Variant
from .envelopes import Message


class JobState(Message):
    """A piece of work on the kernel's main thread, or on another one."""

    id: str
    subject: str
    state: Literal["queued", "running", "done", "cancelled", "failed"] = "queued"
    variant: str = ""
    step: str = ""
    """The current step: ``cpp: building C++``."""
    fraction: float | None = None
    error: Problem | None = None
    kind: Literal["build", "measure", "study", "reproduce"] = "build"
    aside: bool = False
    """Whether it runs outside the main thread. It stops by itself when it is canceled; an
    interrupt would hit the user's cell."""
    needs_main_thread: bool = False
    """Whether it has ended because its variant needs the main thread: request that again."""
    elapsed_s: float = 0.0
    """How long it had waited or run when this was sent."""
    time_words: list[tuple[float, str]] = []
    """Seconds and the words for the elapsed time from then on: ``{elapsed} of about 40 s``. Some
    name the usual duration of such jobs here."""


class AddVariant(Message):
    """Asks for the sources of a variant that the report may not have yet.

    The answer comes at once. If a capture fits, a separate thread generates them; if that takes
    less than half a second, `AddVariantResult.job` is None. Otherwise, and in a kernel without
    subshells, a job is queued that the panel starts with `AddVariantResult.code`.
    """

    subject: str
    variant: Variant


class AddVariantResult(Message):
    """The variant's name in the report, or the job that will create it."""

    name: str
    revision: int
    job: JobState | None = None
    code: str = ""
    """The code that starts the job, to run silently on the main shell. Empty: nothing to start."""


class StartRun(Message):
    """Asks to build, check and time variants (all of the report's, if none is named)."""

    subject: str
    variants: list[str] = []


class StartStudies(Message):
    """Asks for studies of variants, by their names in `studies.table`."""

    subject: str
    studies: list[str]
    variants: list[str] = []
    """All built variants, if none is named."""
    options: dict[str, list[str]] = {}
    """Name of an option of a study → the names that it selects; all, if it is left out."""
    executor: str = ""
    """The name of an executor, as in `StartSweep`, for studies that take one."""


class GetStudyChoices(Message):
    """Asks what the options of a study take for a variant."""

    subject: str
    study: str
    variant: str


class StudyChoices(Message):
    """What the options of a study take for a variant."""

    choices: dict[str, list[StudyChoice]]
    """Name of an option → what it takes, in the order in which the study takes it."""


class StartRunResult(Message):
    """The job, and the code that starts it; empty if it has already started."""

    job: JobState
    code: str


class GetReproducer(Message):
    """Asks for the standalone program of one kernel or graph, which a job writes and tries.

    The first request starts the job, on another thread; later ones follow it.
    """

    subject: str
    variant: str
    compilation: str
    kernel: str = ""
    """A kernel's name; empty if a graph is wanted."""
    graph: str = ""
    """A graph's stage; empty if a kernel is wanted."""
    minify: bool = False
    """Whether to look for a smaller graph that fails in the same way."""
    restart: bool = False
    """Whether to start a new job if the last one has ended."""


class ReproducerResult(Message):
    """The job that writes and tries a program, and the program once the job is done."""

    job: JobState
    reproducer: ReproducerFile | None = None


class ReproducerFile(Message):
    """A standalone program, and how its trial in a new process ended."""

    filename: str
    code: str
    tried: Literal["agrees", "ran", "differs", "fails", "failed", "not tried"]
    """``fails``: it fails as the graph in the report does, which is what it is for."""
    why: str = ""
    """Why it failed or was not tried; of a graph that was made smaller, how far."""
    unchecked: str = ""
    """Why it compares nothing, or not everything, as a clause; empty if it compares everything."""
    output: str = ""
    outcome: str = ""
    """How the trial ended, in a sentence, with what was not compared."""


class Cancel(Message):
    """Asks the job to stop. The panel also interrupts the kernel, which ends a running compile."""

    job: str
