"""A measurement as it is sent to the panel: only the samples that it does not have yet."""

from __future__ import annotations

from ..builds.measurement_state import MeasurementProgress, Series
from . import messages


def measurement(subject: str, progress: MeasurementProgress, since: int) -> messages.Measurement:
    """The state of a measurement, with its samples from a round on.

    Takes no lock: the measuring thread is never delayed.
    """
    rounds = progress.rounds
    since = min(max(since, 0), rounds)
    return messages.Measurement(
        subject=subject,
        id=progress.id,
        state=progress.state,
        since=since,
        rounds=rounds,
        series=[_series(name, series, since, rounds) for name, series in progress.series.items()],
        fraction=progress.fraction,
        problem=progress.problem,
    )


def _series(name: str, series: Series, since: int, rounds: int) -> messages.Series:
    sent = messages.Series(
        name=name,
        first=series.first,
        samples_us=series.samples_us[max(since - series.first, 0) : max(rounds - series.first, 0)],
    )
    timing = series.timing
    if timing is not None:
        sent.median_us, sent.interval_us = timing.median_us, timing.interval_us
        sent.ratio, sent.ratio_interval = timing.ratio, timing.ratio_interval
        sent.differs, sent.speedup = timing.differs, timing.speedup
        sent.calls_per_sample, sent.warmup_calls = timing.calls_per_sample, timing.warmup_calls
        sent.settled, sent.device = timing.settled, timing.device
        sent.host_us, sent.device_us = timing.host_us, timing.device_us
        sent.running, sent.few, sent.interval = timing.running, timing.few, timing.interval
    return sent


class SentRounds:
    """The rounds already sent to the panels, by subject."""

    def __init__(self) -> None:
        self._until: dict[str, tuple[str, int]] = {}

    def new_samples(self, subject: str, progress: MeasurementProgress) -> messages.Measurement:
        """The samples since the last event of a subject."""
        measurement_id, rounds = self._until.get(subject, ("", 0))
        news = measurement(subject, progress, rounds if measurement_id == progress.id else 0)
        self._until[subject] = news.id, news.rounds
        return news
