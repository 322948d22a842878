"""The state of a watch, and its compilations in one line each."""

from __future__ import annotations

from ..compilation.artifacts import Outcome
from ..problem import Problem, SourceLine, Struct


class WatchedCompilation(Struct):
    """A new compilation in one line, before its records are read."""

    id: str
    frame: SourceLine | None = None
    name: str = ""
    """Of the frame: its function, or ``f from line 9`` after a graph break."""
    started_s: float | None = None
    """When it began, in seconds since the epoch."""
    duration_s: float | None = None
    """Its compile time (s); None while it is being compiled."""
    breaks: int = 0
    recompile: str = ""
    """The first guard that failed; empty for a frame's first compilation."""
    failed: str = ""
    """Why torch stopped compiling, if it did."""
    outcome: Outcome = "compiled"
    outcome_words: str = ""
    """``fell back to eager``; empty if it was compiled."""
    cell: str | None = None
    cell_number: int | None = None
    call: SourceLine | None = None

    @property
    def is_recompile(self) -> bool:
        """Whether the frame was compiled again; one that failed or ran in eager was not."""
        return bool(self.recompile) and self.outcome == "compiled"


class WatchState(Struct):
    """Whether the kernel is watched, and since when."""

    on: bool = False
    subject: str = ""
    """The subject under which the panel shows the compilations; it stays when watching ends."""
    since_s: float | None = None
    compilations: int = 0
    reduced: int = 0
    """How many compilations were reduced to an outline, to bound memory."""
    held_bytes: int = 0
    """The approximate size of the kept compilations."""
    problem: Problem | None = None
    """Errors of the watch itself, which did not affect the user's code."""
    budget_bytes: int = 0
    """The limit of that size."""
    left_out: int = 0
    """How many of the oldest are only counted, without even an outline."""
    recompiles: int = 0
    failures: int = 0
    """Compilations whose error torch raised."""
    fallbacks: int = 0
    """Compilations that failed and that torch ran in eager instead."""
    breaks: int = 0
    """The distinct graph breaks."""
    break_occurrences: int = 0
    seconds: float = 0.0
    """The compile time, backward included."""
    latest: list[WatchedCompilation] = []
    """The last few, newest first."""
    counts: list[str] = []
    """The recorded compilations, in short phrases: ``2 recompiles``, ``1.50 s of compile time``."""
