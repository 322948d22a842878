"""A panel that comes, stays, and looks after its kernel."""

from __future__ import annotations

from ...report.checkup import Checkup
from ...report.variant import Choices
from .envelopes import Message
from .outlines import SubjectSummary
from .watching import WatchState
from .working import JobState


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
    session: str = ""
    """Another one after a restart of the kernel."""


class Heartbeat(Message):
    """The panel is alive. A client that says nothing for three minutes is forgotten."""


class GetCheckup(Message):
    """Asks how the kernel's surroundings are: what is found by now, of a checkup that goes on."""

    front_end: str = ""
    """The panel's version."""
    again: bool = False
    """Begins anew, if none is under way."""


class CheckupResult(Message):
    """The checkup; ask again while there is something in its ``waiting``."""

    checkup: Checkup
