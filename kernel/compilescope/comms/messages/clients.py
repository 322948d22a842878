"""Messages with which a panel connects, stays connected, and checks its kernel."""

from __future__ import annotations

from ...report.checkup import Checkup
from ...report.subjects.watching import WatchState
from ...report.tiers import GraphTiers
from ...report.variant import Choices
from .envelopes import Message
from .jobs import JobState
from .outlines import SubjectSummary


class Hello(Message):
    """The first request on a new comm; every later one carries the same client id."""


class HelloResult(Message):
    """Everything that a new panel needs."""

    protocol: int
    package: str
    torch: str
    choices: Choices
    subjects: list[SubjectSummary] = []
    jobs: list[JobState] = []
    """Those yet to end, each kind by age: on the main thread, waiting for it, aside."""
    watching: WatchState | None = None
    tiers: list[GraphTiers] = []
    """The graphs that the backend ``compilescope`` compiled."""
    session: str = ""
    """The id of the kernel's session, which changes when the kernel restarts."""


class Heartbeat(Message):
    """The panel is alive. After three minutes without a message a client is removed."""


class GetCheckup(Message):
    """Asks for the checkup of the kernel's environment, with the results so far."""

    front_end: str = ""
    """The panel's version."""
    restart: bool = False
    """Whether to start a new checkup, unless one is running."""


class CheckupResult(Message):
    """The checkup. Ask again while its ``waiting`` is not empty."""

    checkup: Checkup
    summary: str = ""
    """How many checks have each result, in one line."""
