"""The state of a watch, and its compilations in one line each."""

from __future__ import annotations

from ..problem import Problem, SourceLine, Struct
from .compilation_row import CompilationRow


class WatchedCompilation(CompilationRow):
    """A new compilation in one line, before its records are read."""

    name: str = ""
    """Of the frame: its function, or ``f from line 9`` after a graph break."""
    breaks: int = 0
    failed: str = ""
    """Why torch stopped compiling, if it did."""
    outcome_words: str = ""
    """``fell back to eager``; empty if it was compiled."""
    cell: str | None = None
    cell_number: int | None = None
    call: SourceLine | None = None


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
