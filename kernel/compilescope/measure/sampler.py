"""Times several calls interleaved, round by round, for as long as requested.

torch.utils.benchmark's Timer measures one call after the other; here calls alternate, so that a
disturbance of the machine affects all of them, and a ratio compares samples that were taken next to
each other.

A round
    has one sample of each call, in an order that changes: A B C, C B A, C A B, B A C and so on.
A sample
    is a batch of calls, one after the other as in a loop: long enough for the clock, and with warm
    caches. Caches are not flushed between calls, nor on a GPU (triton's ``do_bench`` clears the L2
    cache before every call): the figure is that of a call in a loop. An untimed call comes first,
    because the previous work may have left the caches cold; there is none if all calls take 50 ms
    or more.
Warm-up
    ends when two consecutive groups of samples were neither faster nor slower than the fastest so
    far. If there is no time for that, the timing says that it has not settled.
Garbage
    is collected between rounds only.
"""

from __future__ import annotations

import math
import statistics
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import torch

from ..analysis.figures.intervals import median_interval, ratio
from ..analysis.figures.other_load import competing
from ..analysis.figures.speedups import speedup
from ..report import RatioAtRound, Timing
from ..report.measurements.timings import InitialState
from .call_in_context import entered
from .garbage_collection import gc_disabled
from .other_load import OtherLoad
from .stopwatch import Call, Reading, Stopwatch, stopwatch_for

BASELINE = "eager"

_WARM_AGREE = 0.05
_WARM_GROUP = 3
"""Samples in a group of the warm-up; one if there is no time for more."""
_WARM_MANY = 10
_WARM_GROUPS = 2
_RUNNING_STEP = 1.05
"""The factor between the rounds of consecutive running ratios: about a hundred ratios for thousands
of rounds."""
LONG_NS = 50_000_000
"""What another call leaves in the caches takes milliseconds to replace: a few percent of a call
that takes this long."""

Cancelled = Callable[[], bool]


def _never() -> bool:
    return False


class _Sample(NamedTuple):
    """A reading in µs per call."""

    round: int
    wall: float
    host: float | None
    device: float | None


@dataclass
class _Series:
    """The data of one call."""

    call: Call
    batch: int = 0
    """Calls per sample; 0 before the warm-up."""
    call_ns: float = math.inf
    """The time of a call once warmed up."""
    settled: bool = False
    warmup_calls: int = 0
    samples: list[_Sample] = field(default_factory=list)
    """A sample for each round in which it took part, in order."""
    running: list[RatioAtRound] = field(default_factory=list)
    """Past ratios to the baseline after fewer rounds, which further rounds do not change."""
    next_running: int = 8
    """The number of shared rounds for the next ratio; with fewer than eight it has no confidence
    interval."""

    def add_sample(self, number: int, reading: Reading) -> None:
        """Keeps a sample atomically: an interrupt leaves either all or nothing of it."""
        calls = self.batch * 1000.0
        host, device = (
            None if total is None else total / calls for total in (reading.host, reading.device)
        )
        self.samples.append(_Sample(number, reading.wall / calls, host, device))


class Sampler:
    """Takes interleaved samples of calls.

    Only one thread at a time may use it, the one that may run the calls; other threads may read the
    timings between rounds.

    Parameters
    ----------
    calls
        Name → call without arguments.
    baseline
        The name of the call with which the others are compared; without it, there are no ratios.
    before_each
        Called with the name before every sample; not timed.
    device
        Where the calls run: ``cpu``, ``cuda``, ``cuda:1``. By default CUDA is assumed if this
        process has initialized it.
    sample_s
        The target length of a sample, in seconds. Many short samples are better than a few long
        ones: a disturbance spoils a whole batch, and on a shared machine hardly any batch of 2 ms
        is undisturbed. A sample is never shorter than the clock requires.
    warm_s
        How long a call may warm up that joins a round without having been warmed up, in seconds.
    initial_state, changes
        The subject's state for the timings, see `Timing`.
    stopwatch
        Instead of the device's own.

    Attributes
    ----------
    rounds : int
        How many rounds were taken.
    threads : int
        Threads that torch uses within an operation. Every round uses the number at the creation of
        the sampler, even if it was changed in between.
    """

    def __init__(
        self,
        calls: Mapping[str, Call],
        *,
        baseline: str = BASELINE,
        before_each: Callable[[str], None] | None = None,
        device: str | None = None,
        sample_s: float = 0.0005,
        warm_s: float = 0.5,
        initial_state: InitialState = "unchanged",
        changes: Sequence[str] = (),
        stopwatch: Stopwatch | None = None,
    ) -> None:
        self.baseline = baseline
        self.rounds = 0
        self.threads = torch.get_num_threads()
        self.initial_state: InitialState = initial_state
        self.changes = list(changes)
        self._turns = uuid.uuid4().hex[:12]
        self._before_each = before_each
        self._watch = stopwatch or stopwatch_for(device)
        self._target_ns = max(self._watch.shortest_ns, int(sample_s * 1e9))
        self._warm_s = warm_s
        self._series = {name: _Series(call) for name, call in calls.items()}
        self._other_load: OtherLoad | None = None

    @property
    def names(self) -> list[str]:
        """The calls, in the order in which they were added."""
        return list(self._series)

    @property
    def samples(self) -> dict[str, list[float]]:
        """Name → a sample for each round in which it took part, in µs per call."""
        return {name: [sample.wall for sample in self._complete(name)] for name in self._series}

    def rounds_of(self, name: str) -> list[int]:
        """The rounds that a call took part in, counted from 0."""
        return [sample.round for sample in self._complete(name)]

    def _complete(self, name: str) -> list[_Sample]:
        """The samples of a call, without those of a round that an interrupt ended."""
        return [sample for sample in self._series[name].samples if sample.round < self.rounds]

    def add(self, name: str, call: Call) -> None:
        """Adds a call from the next round on, or replaces one.

        Its ratio uses the rounds that it shares with the baseline.
        """
        self._series[name] = _Series(call)

    def remove(self, name: str) -> None:
        """Removes a call and its samples."""
        del self._series[name]

    def warm_up(self, name: str, limit_s: float, cancelled: Cancelled = _never) -> bool:
        """Runs a call until its time settles, and finds how many calls fill a sample.

        Parameters
        ----------
        limit_s
            Seconds that this may take; the call is run once, however long it takes.
        cancelled
            Checked before every batch. If true, the call stays unwarmed.

        Returns
        -------
        bool
            Whether it settled.
        """
        if cancelled():
            return False
        series = self._series[name]
        limit_ns = int(limit_s * 1e9)
        end = self._watch.now() + limit_ns
        batch, groups = 1, 0
        calls = 0

        def sample() -> int:
            nonlocal calls
            untimed = 1 if batch > 1 or self._before_each is not None else 0
            calls += batch + untimed
            return self._sample(name, batch, untimed).wall

        with gc_disabled(), self._fixed_threads():
            took = sample()
            while took < self._target_ns and self._watch.now() < end:
                if cancelled():
                    return False
                # A first call is slow: grow by the measured time, but never by more than ten.
                batch = min(batch * 10, max(batch * 2, math.ceil(batch * self._target_ns / took)))
                took = sample()
            best = took
            group = _WARM_GROUP if took * _WARM_MANY < limit_ns else 1
            while groups < _WARM_GROUPS and self._watch.now() < end:
                quickest = math.inf
                for _ in range(group):
                    if cancelled():
                        return False
                    quickest = min(quickest, sample())
                groups = groups + 1 if abs(quickest - best) <= _WARM_AGREE * best else 0
                best = min(best, int(quickest))
        # By the fastest: a disturbed batch would make the following ones too short or too long.
        series.batch = max(1, round(batch * self._target_ns / best))
        series.call_ns = best / batch
        series.warmup_calls += calls
        series.settled = groups == _WARM_GROUPS
        return series.settled

    def round(self, cancelled: Cancelled = _never) -> dict[str, float]:
        """Takes a sample of every call, after warming up new ones.

        Parameters
        ----------
        cancelled
            Checked before every sample. If true, or if a call raises, the round's samples are
            dropped.

        Returns
        -------
        dict[str, float]
            Name → µs per call, in the order of the round; empty if it was canceled.
        """
        for name, series in self._series.items():
            if not series.batch:
                self.warm_up(name, self._warm_s, cancelled)
            if not series.batch:
                return {}
        if self._other_load is None:
            self._other_load = OtherLoad()
        for series in self._series.values():
            # What an interrupt left.
            while series.samples and series.samples[-1].round >= self.rounds:
                series.samples.pop()
        readings: dict[str, Reading] = {}
        with gc_disabled(), self._fixed_threads():
            for name in self._order():
                if cancelled():
                    return {}
                batch = self._series[name].batch
                readings[name] = self._sample(name, batch, self._untimed(batch))
        for name, reading in readings.items():
            self._series[name].add_sample(self.rounds, reading)
        # An interrupt before this drops the round: no call has a sample of it that others lack.
        self.rounds += 1
        return {name: self._series[name].samples[-1].wall for name in readings}

    def _order(self) -> list[str]:
        """The calls in a round's order.

        It rotates, and every other round is reversed: no call always comes after the same one.
        """
        names = self.names
        first = -(self.rounds // 2) % len(names) if names else 0
        order = names[first:] + names[:first]
        return order[::-1] if self.rounds % 2 else order

    def timing(self, name: str) -> Timing:
        """The timing of a call from its samples so far.

        Costs some milliseconds for thousands of rounds.

        Raises
        ------
        ValueError
            It has no sample yet.
        """
        series = self._series[name]
        samples = self._complete(name)
        if not samples:
            raise ValueError(f"{name!r} has no sample yet.")
        wall = [sample.wall for sample in samples]
        timing = Timing(
            median_us=statistics.median(wall),
            interval_us=median_interval(wall),
            samples_us=wall,
            calls_per_sample=series.batch,
            warmup_calls=series.warmup_calls,
            device=self._watch.device,
            baseline=self.baseline,
            threads=self.threads,
            settled=series.settled,
            initial_state=self.initial_state,
            changes=list(self.changes),
            turns=self._turns,
            first_round=samples[0].round,
        )
        if self._other_load is not None:
            timing.other_processors = self._other_load.processors()
            timing.processors = len(self._other_load.usable)
        host = [sample.host for sample in samples if sample.host is not None]
        if host:
            timing.host_us = statistics.median(host)
        device = [sample.device for sample in samples if sample.device is not None]
        if device:
            timing.device_us = statistics.median(device)
        if name != self.baseline and self.baseline in self._series:
            self._compare(timing, series, samples)
        return timing

    def _compare(self, timing: Timing, series: _Series, samples: list[_Sample]) -> None:
        baseline = {sample.round: sample.wall for sample in self._complete(self.baseline)}
        shared = [sample for sample in samples if sample.round in baseline]
        if not shared:
            return
        above = [baseline[sample.round] for sample in shared]
        below = [sample.wall for sample in shared]
        disturbed = competing(timing)
        while series.next_running <= len(shared):
            count = series.next_running
            earlier = ratio(above[:count], below[:count], disturbed=disturbed)
            rounds = shared[count - 1].round + 1
            series.running.append(RatioAtRound(rounds, earlier.value, earlier.interval))
            series.next_running = math.ceil(count * _RUNNING_STEP)
        comparison = ratio(above, below, disturbed=disturbed)
        timing.ratio, timing.ratio_interval = comparison.value, comparison.interval
        timing.differs, timing.speedup = comparison.differs, speedup(comparison, self.baseline)
        timing.running = list(series.running)

    def _sample(self, name: str, batch: int, untimed: int) -> Reading:
        if self._before_each is not None:
            self._before_each(name)
        with entered(self._series[name].call) as call:
            for _ in range(untimed):
                call()
            return self._watch.time(call, batch)

    def _untimed(self, batch: int) -> int:
        """How many untimed calls come before a sample in a round.

        After another call, the first one finds the caches and the threads as that call left them:
        eager's temporary tensors, the threads of another OpenMP. Where all calls are long, none
        is made, to save time; little of their time depends on it.
        """
        has_short = batch > 1 or any(each.call_ns < LONG_NS for each in self._series.values())
        return 1 if has_short or self._before_each is not None else 0

    @contextmanager
    def _fixed_threads(self) -> Iterator[None]:
        now = torch.get_num_threads()
        if now != self.threads:
            torch.set_num_threads(self.threads)
        try:
            yield
        finally:
            if now != self.threads:
                torch.set_num_threads(now)
