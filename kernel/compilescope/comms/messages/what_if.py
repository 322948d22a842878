"""Whether a call would recompile."""

from __future__ import annotations

from ...report.what_if import GuardOutcome, Verdict
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


class WhatIfResult(Message):
    """The outcome of a call with these arguments."""

    arguments: list[str]
    """One line per argument, as in `Subject.arguments`."""
    verdict: Verdict
    title: str = ""
    """The verdict in a few words."""
    text: str = ""
    """What it means for the call, in a sentence."""
    reuses: str = ""
    """The compilation that would serve the call."""
    outcomes: list[GuardOutcome] = []
    """The guards, in the order in which torch evaluates them."""
    why: str = ""
