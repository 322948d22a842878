"""What the kernel says unasked."""

from __future__ import annotations

from ...report import Sweep
from .envelopes import Message
from .measuring import Measurement
from .outlines import SubjectSummary
from .watching import WatchState
from .working import JobState


class SubjectsChanged(Message):
    """The list of subjects is now this one."""

    subjects: list[SubjectSummary]
    focus: str | None = None
    """The subject that was just inspected in a cell: the panel turns to it."""
    offer: str | None = None
    """A watch whose block has just ended: the panel offers it, and stays where it is."""


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
