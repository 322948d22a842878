"""The state of a subject's measurement: written by the measuring thread, read by any thread."""

from __future__ import annotations

from typing import Literal

import msgspec

from ..report import Timing
from ..report.problem import Problem

MeasurementState = Literal["none", "building", "warming", "running", "paused", "done"]


class Series(msgspec.Struct, kw_only=True, frozen=True):
    """A variant's samples so far."""

    first: int = 0
    """The round of the first sample: a variant may have joined later."""
    samples_us: list[float] = []
    """Only ever appended to."""
    timing: Timing | None = None
    """The timing of all samples except the latest few."""


class MeasurementProgress(msgspec.Struct, kw_only=True):
    """A measurement. Its parts are replaced as a whole, so that no reader sees a partial change."""

    id: str = ""
    state: MeasurementState = "none"
    rounds: int = 0
    series: dict[str, Series] = {}
    """Variant's name → its samples, eager's first."""
    fraction: float | None = None
    """The share of the requested time that has passed."""
    problem: Problem | None = None
