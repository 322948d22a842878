"""Live measurement of variants: samples interleaved with eager, until time is up or a cancel."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from ..analysis.figures.speedups import over_baseline
from ..isolation.muted_output import quiet
from ..isolation.thread_switching import undisturbed
from ..isolation.user_state import Snapshot
from ..measure.sampler import Sampler
from ..progress.progress import Cancelled, Monitor
from ..report import Timing
from ..torch_api.failures import failures
from .built_variants import BuiltVariants
from .comparison.repeatable_state import State
from .measurement_state import MeasurementProgress, MeasurementState, Series
from .recompiling_calls import RecompilingCalls
from .subject_error import CALL_ERRORS

TICK_S = 0.5
"""Updates are sent at most twice a second: a panel that draws them on the same machine disturbs
what is measured. Computing the figures of many samples takes a while: it may take a tenth of the
time."""
_EVENT_TIME_SHARE = 0.1
WARM_S = 0.5
"""The longest warm-up of a variant."""

_ids = itertools.count(1)

SentRounds = Callable[[], None]


class Measurement:
    """One subject's measurement, started or resumed.

    Parameters
    ----------
    builds
        The subject's builds.

    Attributes
    ----------
    progress
        Read it from any thread.
    """

    def __init__(self, builds: BuiltVariants) -> None:
        self.progress = MeasurementProgress()
        self._built = builds
        self._sampler: Sampler | None = None
        self._builds: dict[str, object] = {}
        self._before_each: Callable[[str], None] | None = None
        self._prepares = False
        """Whether something was done before each batch of the latest samples."""
        self._recompiling: Mapping[str, RecompilingCalls] = {}
        self._on_news: SentRounds = lambda: None

    @contextmanager
    def under_way(self, on_news: SentRounds) -> Iterator[None]:
        """Marks the measurement as running in the block; ``on_news`` is called when it has news."""
        self._on_news = on_news
        self.progress.problem = None
        self._publish("building")
        try:
            yield
        finally:
            if self.progress.state != "done":
                self._publish("paused" if self.progress.rounds else "none")
            self._on_news = lambda: None

    def goes_on(self, names: Sequence[str]) -> bool:
        """Whether all that was measured is among ``names``, with the same builds."""
        return bool(self._builds) and all(
            name in names and self._built.holds(name, build) for name, build in self._builds.items()
        )

    def measure(
        self,
        names: Sequence[str],
        snapshot: Snapshot,
        monitor: Monitor,
        *,
        seconds: float,
        restart: bool = False,
    ) -> None:
        """Takes samples until the time is over or the monitor is canceled.

        An earlier measurement is resumed where possible. An error of the subject ends the
        measurement and becomes its ``problem``; neither this nor an interrupt loses a sample.

        Parameters
        ----------
        names
            Of builds that are kept; the caller has them open.
        snapshot
            The state that every batch begins with, if a call changes it.
        seconds
            Of sampling, after the warm-ups.
        restart
            Whether to start over in any case.
        """
        state: MeasurementState = "paused"
        try:
            sampler = self._prepare(names, snapshot, monitor, restart=restart)
            try:
                self._warm_up(sampler, monitor)
                if self._sample(sampler, monitor, seconds):
                    state = "done"
            finally:
                self._before_each = None  # it holds a copy of the subject's state
                self._conclude(sampler, state)
        except Cancelled:
            raise
        except CALL_ERRORS as error:
            self.progress.problem = failures.of_later_call(error)

    def release(self) -> None:
        """Forgets the builds, unless they are being measured; from any thread."""
        if self.progress.state in ("none", "paused", "done"):
            self._sampler, self._builds = None, {}

    def timings(self) -> dict[str, Timing]:
        """The timings so far, by name; eager's included."""
        return {
            name: series.timing
            for name, series in self.progress.series.items()
            if series.timing is not None
        }

    def _prepare(
        self, names: Sequence[str], snapshot: Snapshot, monitor: Monitor, *, restart: bool
    ) -> Sampler:
        state = State(self._built, names, snapshot, monitor)
        calls = self._built.calls(names, snapshot)
        prepares = state.before_each is not None
        same, self._prepares = prepares == self._prepares, prepares
        self._before_each = state.before_each
        sampler = self._sampler
        if restart or sampler is None or not same or not self.goes_on(names):
            sampler = Sampler(
                calls,
                before_each=self._before if prepares else None,
                device=state.device,
            )
            self.progress = MeasurementProgress(
                id=f"measurement-{next(_ids)}",
                state=self.progress.state,
                series={name: Series() for name in calls},
            )
        else:
            for name in calls.keys() - set(sampler.names):
                sampler.add(name, calls[name])
        sampler.initial_state, sampler.changes = state.initial_state, state.changes
        self._recompiling = state.recompiling
        self._sampler = sampler
        self._builds = {name: self._built.build(name) for name in names}
        return sampler

    def _before(self, name: str) -> None:
        """Called by the sampler, which outlives the snapshots."""
        if self._before_each is not None:
            self._before_each(name)

    def _warm_up(self, sampler: Sampler, monitor: Monitor) -> None:
        self._publish("warming")
        for name in sampler.names:
            monitor.step("warming up", variant=name)
            with undisturbed(), quiet():
                sampler.warm_up(name, WARM_S, lambda: monitor.cancelled)
        monitor.check()

    def _sample(self, sampler: Sampler, monitor: Monitor, seconds: float) -> bool:
        """Takes rounds; returns whether the time is over."""
        start_s = last_news_s = time.monotonic()
        pause = 0.0
        self._publish("running")
        while True:
            with undisturbed(), quiet():
                taken = sampler.round(lambda: monitor.cancelled)
            monitor.check()
            self._add_round(taken)
            now = time.monotonic()
            self.progress.fraction = min(1.0, (now - start_s) / seconds) if seconds > 0 else 1.0
            if now - start_s >= seconds:
                return True
            if now - last_news_s >= max(TICK_S, pause):
                self._figures(sampler)
                self._publish("running")
                monitor.step(headline(self.timings()), fraction=self.progress.fraction)
                last_news_s = time.monotonic()
                pause = (last_news_s - now) / _EVENT_TIME_SHARE

    def _add_round(self, taken: Mapping[str, float]) -> None:
        """Adds the samples of a round."""
        progress = self.progress
        for name, sample in taken.items():
            if name not in progress.series:
                progress.series = {**progress.series, name: Series(first=progress.rounds)}
            progress.series[name].samples_us.append(sample)
        progress.rounds += 1

    def _figures(self, sampler: Sampler) -> None:
        """Computes the timings from the samples."""
        self.progress.series = {
            name: msgspec.structs.replace(
                series, timing=self._timing(sampler, name) if series.samples_us else None
            )
            for name, series in self.progress.series.items()
        }

    def _timing(self, sampler: Sampler, name: str) -> Timing:
        timing = sampler.timing(name)
        if name in self._recompiling:
            self._recompiling[name].add_to(timing)
        return timing

    def _conclude(self, sampler: Sampler, state: MeasurementState) -> None:
        """Completes what an interrupt may have cut off, and records how the measurement ended."""
        samples = sampler.samples
        self.progress.series = {
            name: Series(first=sampler.rounds_of(name)[0], samples_us=samples[name])
            for name in sampler.names
            if samples[name]
        }
        self.progress.rounds = sampler.rounds
        self.progress.fraction = None
        self._figures(sampler)
        self._publish(state)

    def _publish(self, state: MeasurementState) -> None:
        self.progress.state = state
        self._on_news()


def headline(timings: dict[str, Timing]) -> str:
    """The ratios so far, in words."""
    parts = [
        f"{name} {comparison}"
        for name, timing in timings.items()
        if (comparison := compared(timing))
    ]
    return "measuring" + (f": {'; '.join(parts)}" if parts else "")


def compared(timing: Timing) -> str:
    """How a timing compares with its baseline, in words; empty if it has none."""
    ratio = over_baseline(timing)
    if ratio is None:
        return ""
    if ratio.standing == "same":
        return f"{ratio.text} from {ratio.over}"
    has_direction = ratio.standing in ("faster", "slower")
    return f"{ratio.text} than {ratio.over}" if has_direction else ratio.text
