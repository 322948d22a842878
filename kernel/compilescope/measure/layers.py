"""Calls of a program's layers timed in turns, and the differences between them.

All figures of a round are taken one after the other, so a difference is taken within each round and
the median over the rounds: what disturbs the machine for longer than a round disturbs both sides.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from .intervals import median_interval
from .sampler import Sampler
from .stopwatch import Call, HostStopwatch

_FEWEST = 7
"""Rounds that are taken even when the time is up, within `_OVERTIME` times it."""
_OVERTIME = 4
_WARM_SHARE = 0.15
_SAMPLE_S = 0.001
"""Short samples make many rounds; the differences are within rounds."""


class Figure(NamedTuple):
    """A time in µs, with its 95 % interval."""

    us: float
    interval: tuple[float, float]


def figure(samples: Sequence[float]) -> Figure:
    """The median of samples, in µs."""
    return Figure(statistics.median(samples), median_interval(samples))


Terms = Mapping[str, float]
"""Name of a call → how often it counts, negative where it is taken off."""


class Samples:
    """Samples of calls, round by round, in µs a call."""

    def __init__(self, samples: Mapping[str, Sequence[float]]) -> None:
        self._samples = samples

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return min((len(one) for one in self._samples.values()), default=0)

    @property
    def names(self) -> list[str]:
        """The calls that were sampled."""
        return list(self._samples)

    def __contains__(self, name: str) -> bool:
        return name in self._samples

    def figure(self, terms: Terms) -> Figure:
        """The median over the rounds of a sum of calls' times, each as often as it counts."""
        values = [
            sum(count * self._samples[name][number] for name, count in terms.items())
            for number in range(self.rounds)
        ]
        return figure(values)


def sample_layers(
    calls: Mapping[str, Call],
    *,
    before_each: Callable[[str], None],
    budget_s: float,
    check: Callable[[], None] = lambda: None,
) -> Samples:
    """Times calls in turns by the host's clock.

    Parameters
    ----------
    before_each
        Called with a call's name before each sample of it; not timed. On a GPU it waits for the
        device, so that no sample has to.
    budget_s
        About how long it may take, in seconds; up to four times that for seven rounds.
    check
        Called between rounds; may raise to stop.
    """
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
        if spent > (budget_s if sampler.rounds >= _FEWEST else budget_s * _OVERTIME):
            break
        check()
        sampler.round()
    if not sampler.rounds:
        sampler.round()
    return Samples(sampler.samples)
