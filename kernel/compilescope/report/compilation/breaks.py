"""Graph breaks.

Part of a report; see `compilescope.report` for the rules.
"""

from __future__ import annotations

from ..problem import SourceLine, Struct


class Break(Struct):
    """A graph break."""

    reason: str
    """torch's short description: ``Data-dependent branching``."""
    explanation: str = ""
    """torch's explanation."""
    hints: list[str] = []
    """torch's suggestions."""
    context: str = ""
    """torch's developer context: the operation and its arguments."""
    link: str = ""
    """The address of torch's page about this kind of graph break."""
    where: SourceLine | None = None
    """The line of the user's code with the break."""
    stack: list[SourceLine] = []
    """The call stack at the break, innermost frame last."""
    duration_us: float | None = None
    """The compile time of the attempts that it ended (µs); None if what they traced was used."""
    resumed: str = ""
    """The compile id of the code after the break."""
    eager: str = ""
    """The code that runs in eager because of it: ``print(…)``, the whole frame, or its rest."""
