"""A suggestion with its rank."""

from __future__ import annotations

from typing import NamedTuple

from ....report import Suggestion


class Ranked(NamedTuple):
    """A suggestion and its rank, from 0 (no gain) to 1."""

    promise: float
    suggestion: Suggestion
    was_tried: bool = False
    """Whether it reports the result of a trial; then it is kept, whatever its rank."""
