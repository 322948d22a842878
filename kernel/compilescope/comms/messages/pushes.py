"""Events that the kernel pushes to the panel."""

from __future__ import annotations

from ...report import Sweep
from ...report.subjects.watching import WatchState
from ...report.variant import Choices
from .envelopes import Message
from .jobs import JobState
from .measuring import Measurement
from .outlines import SubjectSummary


class SubjectsChanged(Message):
    """The new list of subjects."""

    subjects: list[SubjectSummary]
    focus: str | None = None
    """The subject that a cell just inspected; the panel switches to it."""
    offer: str | None = None
    """A watch whose block has just ended; the panel offers it without switching to it."""


class ReportChanged(Message):
    """A report changed."""

    subject: str
    revision: int
    variants: list[str] | None = None
    """The variants whose artifacts and graphs may have changed; None: those of all. The rest of any
    variant may have changed, too."""


class JobChanged(Message):
    """A job made progress."""

    job: JobState


class WatchChanged(Message):
    """Watching started, ended or saw compilations; sent at most a few times a second."""

    watch: WatchState


class ChoicesChanged(Message):
    """The user has named executors or added a target."""

    choices: Choices


class Measured(Message):
    """A measurement has new samples; sent at most a few times a second."""

    measurement: Measurement


class SweepChanged(Message):
    """A sweep made progress; the cells that changed."""

    subject: str
    sweep: Sweep
    """Without the cells that have not changed, and without samples."""
