"""The values that can be selected with an option of a study."""

from __future__ import annotations

from ..problem import Struct


class StudyChoice(Struct):
    """A name that an option of a study takes for a variant: of `deploy`, a way."""

    name: str
    title: str = ""
    """A description in a few words."""
    why: str = ""
    """Why it cannot be tried here; empty if it can."""
    estimate_s: float | None = None
    """An estimate of how long it takes (s), not a measurement of it; None if nothing is known."""
    is_least: bool = True
    """Whether the estimate is a lower bound: the time of a compilation. Otherwise it is the time
    that the last measurement of it took."""
