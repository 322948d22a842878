"""Times calls of a program's layers interleaved, and computes their differences.

A few consecutive rounds take little time, so differences are computed from their medians, and the
figure is the median over all such groups of rounds. A longer disturbance of the machine affects
both sides of a difference; a shorter one affects single samples, which a median ignores. (Any bad
sample would spoil a difference within one round.)
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from ..analysis.figures.intervals import median_interval
from ..report import too_few
from .garbage_collection import gc_disabled
from .sampler import Sampler
from .stopwatch import Call, HostStopwatch

SECONDS = 3.0
"""The approximate time of the measurement."""
MIN_ROUNDS = 7
"""The minimum number of rounds even if the time is up, within `OVERTIME` times it."""
OVERTIME = 4
_GROUPS, _MAX_GROUP_ROUNDS = 8, 9
"""The desired minimum number of groups, and the most rounds in a group."""
_WARM_SHARE = 0.15
_SAMPLE_S = 0.001
"""Short samples make many rounds; the differences are within rounds."""


class Figure(NamedTuple):
    """A time in µs, with its 95 % interval; None if there are too few samples for one."""

    us: float
    interval: tuple[float, float] | None


def figure(samples: Sequence[float]) -> Figure:
    """The median of samples, in µs."""
    interval = None if too_few(samples) else median_interval(samples)
    return Figure(statistics.median(samples), interval)


Terms = Mapping[str, float]
"""Name of a call → its factor in the sum, negative if it is subtracted."""


class Samples:
    """Samples of calls, round by round, in µs a call."""

    def __init__(self, samples: Mapping[str, Sequence[float]]) -> None:
        self._samples = samples

    @property
    def names(self) -> list[str]:
        """The calls that were sampled."""
        return list(self._samples)

    def __contains__(self, name: str) -> bool:
        return name in self._samples

    def figure(self, terms: Terms) -> Figure:
        """A weighted sum of calls' times: the median over groups of rounds.

        Calls that take long have fewer rounds than others.
        """
        rounds = min((len(self._samples[name]) for name in terms), default=0)
        length = min(max(rounds // _GROUPS, 1), _MAX_GROUP_ROUNDS)
        starts = range(0, rounds - length + 1, length)
        return figure(
            [
                sum(
                    count * statistics.median(self._samples[name][start : start + length])
                    for name, count in terms.items()
                )
                for start in starts
            ]
        )


def sample_layers(
    calls: Mapping[str, Call],
    *,
    before_each: Callable[[str], None],
    budget_s: float,
    fewest: int = MIN_ROUNDS,
    slow: Collection[str] = (),
    check: Callable[[], None] = lambda: None,
) -> Samples:
    """Times calls interleaved by the host's clock.

    Parameters
    ----------
    before_each
        Called with a call's name before each sample of it; not timed. On a GPU it waits for the
        device, so that no sample includes that.
    budget_s
        The approximate time limit in seconds; up to four times that to complete the fewest rounds.
    fewest
        How many rounds there are even if the time is up.
    slow
        Names of calls that take so long that each is called as often as the time allows, once at
        least, and never untimed.
    check
        Called between rounds; may raise to stop.
    """
    slow_calls = {name: calls[name] for name in slow}
    slow_samples = _sample_slowly(slow_calls, before_each, budget_s, check)
    calls = {name: call for name, call in calls.items() if name not in slow_calls}
    start = time.perf_counter()
    sampler = Sampler(
        calls,
        baseline="",
        before_each=before_each,
        device="cpu",
        sample_s=_SAMPLE_S,
        stopwatch=HostStopwatch(),
    )
    for name in sampler.names:
        check()
        sampler.warm_up(name, budget_s * _WARM_SHARE / len(calls))
    while True:
        spent = time.perf_counter() - start
        if spent > (budget_s if sampler.rounds >= fewest else budget_s * OVERTIME):
            break
        check()
        sampler.round()
    if not sampler.rounds:
        sampler.round()
    return Samples({**sampler.samples, **slow_samples})


def _sample_slowly(
    calls: Mapping[str, Call],
    before_each: Callable[[str], None],
    budget_s: float,
    check: Callable[[], None],
) -> dict[str, list[float]]:
    """Times calls that need no batches, interleaved; returns µs by name."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    start, watch = time.perf_counter(), HostStopwatch()
    with gc_disabled():
        while calls and (time.perf_counter() - start < budget_s or not all(samples.values())):
            for name, call in calls.items():
                check()
                before_each(name)
                samples[name].append(watch.time(call, 1).wall / 1000)
    return samples
