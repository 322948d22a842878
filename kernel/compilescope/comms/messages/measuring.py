"""A measurement, streamed while it goes on."""

from __future__ import annotations

from typing import Literal

from ...report import Problem, RatioAtRound, Speedup
from .envelopes import Message


class StartMeasure(Message):
    """Asks to time variants in turns with eager, their samples streamed while it goes on.

    Samples are added to those of the last measurement where the same variants are still built;
    otherwise it begins anew. Eager is always among them.
    """

    subject: str
    variants: list[str] = []
    """All that can be built, when none is named."""
    seconds: float = 10.0
    """Ends by itself after about so long; cancelling ends it earlier and loses nothing."""
    again: bool = False
    """Begins anew also where it could go on."""


class GetMeasurement(Message):
    """Asks for the samples of a subject's measurement, from a round on."""

    subject: str
    since: int = 0
    """The first round wanted."""


class Series(Message):
    """A variant in a measurement."""

    name: str
    first: int = 0
    """The round that its first sample is of: a variant may have joined the others later."""
    samples_us: list[float] = []
    """Of the rounds from `Measurement.since` on; a sample is a batch of calls, in µs a call."""
    median_us: float | None = None
    """Of all rounds, as all that follows."""
    interval_us: tuple[float, float] | None = None
    ratio: float | None = None
    ratio_interval: tuple[float, float] | None = None
    speedup: Speedup | None = None
    differs: bool | None = None
    calls_per_sample: int = 1
    warmup_calls: int = 0
    settled: bool = True
    device: str = "cpu"
    host_us: float | None = None
    device_us: float | None = None
    running: list[RatioAtRound] = []
    few: bool = False


class Measurement(Message):
    """A measurement, as it stands. What a panel has, it completes by what comes."""

    subject: str
    id: str = ""
    """Another one when it began anew: what a panel has, is of no use then."""
    state: Literal["none", "building", "warming", "running", "paused", "done"] = "none"
    """paused: ended early. Going on adds to it."""
    since: int = 0
    rounds: int = 0
    baseline: str = "eager"
    series: list[Series] = []
    fraction: float | None = None
    """Of the seconds asked for."""
    problem: Problem | None = None
