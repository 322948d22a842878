"""Messages of a measurement, which streams its samples."""

from __future__ import annotations

from typing import Literal

from ...report import Problem, RatioAtRound, Speedup
from .envelopes import Message


class StartMeasure(Message):
    """Asks to time variants interleaved with eager, and to stream their samples.

    Samples are added to those of the last measurement if the same variants are still built;
    otherwise a new measurement starts. Eager is always among them.
    """

    subject: str
    variants: list[str] = []
    """All variants that can be built, if none is named."""
    seconds: float = 10.0
    """The approximate duration; canceling ends it earlier and keeps all samples."""
    restart: bool = False
    """Whether to start a new measurement even if the last one could continue."""


class GetMeasurement(Message):
    """Asks for the samples of a subject's measurement, from a round on."""

    subject: str
    since: int = 0
    """The first round wanted."""


class Series(Message):
    """A variant in a measurement."""

    name: str
    first: int = 0
    """The round of its first sample: a variant may have joined later."""
    samples_us: list[float] = []
    """Samples of the rounds from `Measurement.since` on; a sample is a batch of calls, in µs per
    call."""
    median_us: float | None = None
    """The median latency of all rounds (µs); the fields below are also of all rounds."""
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
    interval: str = ""
    """As `Timing.interval`."""


class Measurement(Message):
    """The current state of a measurement. A panel appends the new samples to those that it has."""

    subject: str
    id: str = ""
    """It changes when a new measurement starts; a panel then drops its samples."""
    state: Literal["none", "building", "warming", "running", "paused", "done"] = "none"
    """paused: ended early. Continuing adds to it."""
    since: int = 0
    rounds: int = 0
    baseline: str = "eager"
    series: list[Series] = []
    fraction: float | None = None
    """The share of the requested seconds that is done."""
    problem: Problem | None = None
