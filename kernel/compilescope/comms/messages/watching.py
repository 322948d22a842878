"""Watching what the notebook compiles."""

from __future__ import annotations

from ...report import Problem, SourceLine
from .envelopes import Message


class SetWatch(Message):
    """Turns watching on or off."""

    on: bool
    clear: bool = False
    """Whether to empty what was seen first."""


class WatchedCompilation(Message):
    """A compilation that was seen just now, in a line: nothing has been read of it yet."""

    id: str
    frame: SourceLine | None = None
    started_s: float | None = None
    """Since the epoch."""
    duration_s: float | None = None
    """None while it is being compiled."""
    breaks: int = 0
    recompile: str = ""
    """The first guard that failed; empty for a frame's first compilation."""
    failed: str = ""
    """Why torch gave up, where it did."""
    cell: str | None = None
    cell_number: int | None = None
    call: SourceLine | None = None


class WatchState(Message):
    """Whether the kernel is watched, and since when."""

    on: bool
    subject: str = ""
    """The subject under which the panel shows what was compiled; stays when watching ends."""
    since_s: float | None = None
    compilations: int = 0
    reduced: int = 0
    """How many compilations were reduced to an outline, to bound memory."""
    held_bytes: int = 0
    """About how much is held."""
    problem: Problem | None = None
    """What went wrong in watching; the user's code went on."""
    budget_bytes: int = 0
    """What may be held."""
    left_out: int = 0
    """How many of the oldest are only counted: not even their outline is held."""
    recompiles: int = 0
    breaks: int = 0
    seconds: float = 0.0
    """Spent in compiling, backward included."""
    latest: list[WatchedCompilation] = []
    """The last few, newest first."""
