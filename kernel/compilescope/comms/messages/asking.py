"""Whether a call would recompile."""

from __future__ import annotations

from typing import Literal

from ...report import Guard
from .envelopes import Message


class WhatIf(Message):
    """Asks which guards would fail for other arguments; runs and compiles nothing of the user's.

    ``arguments`` is Python as written in a call: ``x[:2], scale=3.0``. Its names are the
    notebook's.
    """

    subject: str
    variant: str
    arguments: str
    compilation: str = ""
    """For a watch, the compilation whose function would be called; a subject has its own call."""


class GuardOutcome(Message):
    """The result of one compilation's guards."""

    compilation: str
    passes: bool
    guard: Guard | None = None
    """The first that fails."""
    place: int | None = None
    """Its index in the compilation's guards, if it is there."""
    expected: str = ""
    found: str = ""
    message: str = ""
    """torch's own words."""


class WhatIfResult(Message):
    """The outcome of a call with these arguments."""

    arguments: list[str]
    """One line per argument, as in `Subject.arguments`."""
    verdict: Literal["reuse", "recompile", "limit", "eager", "error", "unknown"]
    reuses: str = ""
    """The compilation that would serve the call."""
    outcomes: list[GuardOutcome] = []
    """In the order in which torch tries them."""
    why: str = ""
