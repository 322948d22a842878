"""A suggestion with its rank."""

from __future__ import annotations

from typing import NamedTuple

from ...report import Suggestion


class Ranked(NamedTuple):
    """A suggestion, and how much it promises: from 0, nothing, to 1."""

    promise: float
    suggestion: Suggestion
    was_tried: bool = False
    """Whether it says what came of a trial: that stays, however little it promises."""
