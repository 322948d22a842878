"""A measurement as the panel hears of it: only what it does not have yet."""

from __future__ import annotations

from ..builds.measurement_state import MeasurementProgress, Series
from . import messages


def measurement(subject: str, standing: MeasurementProgress, since: int) -> messages.Measurement:
    """How a measurement stands, with its samples from a round on.

    Waits for nobody: the thread that measures goes on meanwhile.
    """
    rounds = standing.rounds
    since = min(max(since, 0), rounds)
    return messages.Measurement(
        subject=subject,
        id=standing.id,
        state=standing.state,
        since=since,
        rounds=rounds,
        series=[_series(name, series, since, rounds) for name, series in standing.series.items()],
        fraction=standing.fraction,
        problem=standing.problem,
    )


def _series(name: str, series: Series, since: int, rounds: int) -> messages.Series:
    found = messages.Series(
        name=name,
        first=series.first,
        samples_us=series.samples_us[max(since - series.first, 0) : max(rounds - series.first, 0)],
    )
    timing = series.timing
    if timing is not None:
        found.median_us, found.interval_us = timing.median_us, timing.interval_us
        found.ratio, found.ratio_interval = timing.ratio, timing.ratio_interval
        found.differs, found.speedup = timing.differs, timing.speedup
        found.calls_per_sample, found.warmup_calls = timing.calls_per_sample, timing.warmup_calls
        found.settled, found.device = timing.settled, timing.device
        found.host_us, found.device_us = timing.host_us, timing.device_us
        found.running, found.few = timing.running, timing.few
    return found


class SentRounds:
    """Which rounds every panel has been told of, by subject."""

    def __init__(self) -> None:
        self._until: dict[str, tuple[str, int]] = {}

    def news(self, subject: str, standing: MeasurementProgress) -> messages.Measurement:
        """What has come since the last news of a subject."""
        known, rounds = self._until.get(subject, ("", 0))
        news = measurement(subject, standing, rounds if known == standing.id else 0)
        self._until[subject] = news.id, news.rounds
        return news
