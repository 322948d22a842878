"""A compilation in one line of a list."""

from __future__ import annotations

from ..compilation.artifacts import Outcome
from ..problem import SourceLine, Struct


class CompilationRow(Struct):
    """What every list of compilations has of one."""

    id: str
    frame: SourceLine | None = None
    started_s: float | None = None
    """When it began, in seconds since the epoch."""
    duration_s: float | None = None
    """Its compile time (s); None while it is being compiled, or if torch logged no time."""
    recompile: str = ""
    """The first guard that failed, as `Recompile.cause`; empty for a frame's first compilation."""
    outcome: Outcome = "compiled"
    """failed: the error reached the caller. eager: torch fell back to eager for the frame."""

    @property
    def is_recompile(self) -> bool:
        """Whether the frame was compiled again; one that failed or ran in eager was not."""
        return bool(self.recompile) and self.outcome == "compiled"
