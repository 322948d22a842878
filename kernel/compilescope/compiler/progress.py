"""What an inspection says of itself while it works, and how it is told to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable

import msgspec


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """A step that has begun.

    ``fraction`` is how much of the whole was done before it, from 0 to 1, or None when unknown.
    """

    step: str
    fraction: float | None = None
    variant: str = ""


Report = Callable[[Progress], None]


class Cancelled(Exception):  # noqa: N818 - nothing went wrong
    """The inspection was asked to stop between two steps."""


class Monitor:
    """Passes steps on, and stops the work at the next step once it is cancelled."""

    def __init__(self, report: Report | None = None) -> None:
        self._report = report
        self._cancelled = threading.Event()

    def step(self, step: str, *, variant: str = "", fraction: float | None = None) -> None:
        """Begins a step.

        Raises
        ------
        Cancelled
            The work was cancelled meanwhile.
        """
        self.check()
        if self._report is not None:
            self._report(Progress(step=step, variant=variant, fraction=fraction))

    def check(self) -> None:
        """Raises `Cancelled` if the work was cancelled."""
        if self._cancelled.is_set():
            raise Cancelled

    def within(self, report: Report) -> Monitor:
        """A monitor for a part of the work: its steps go to ``report``; cancelled they are as one.

        ``report`` is called before a step begins, and passes it on as it sees fit.
        """
        part = Monitor(report)
        part._cancelled = self._cancelled
        return part

    def cancel(self) -> None:
        """Asks the work to stop; safe to call from any thread."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether the work was asked to stop."""
        return self._cancelled.is_set()
