"""Measures the overhead of calling an operator: a call of it minus its own work."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

from ..analysis.figures.intervals import median_interval

ROUNDS = 32
_ROUND_NS = 300_000
"""The approximate time of all calls of a round together."""
_MAX_CALLS = 400
_SECONDS = 1.0
"""The time after which no further round begins, once there are enough for an interval."""
_MIN_ROUNDS = 8


class Cost(NamedTuple):
    """Microseconds a call."""

    us: float
    interval_us: tuple[float, float]
    rounds: int


def reaching(
    call: Callable[[], object],
    *,
    without: Callable[[], object] | None,
    inside: Callable[[int], float],
    before_each: Callable[[], object],
) -> Cost:
    """Times calls in rounds.

    Parameters
    ----------
    call
        Calls the operator.
    without
        Does everything that ``call`` does except the operator; timed in the same rounds, and
        subtracted.
    inside
        Returns the operator's own work (ns) in the last calls, given their number.
    before_each
        Run before each round; not part of it.
    """
    call()
    inside(1)
    number = _fitting(call, inside)
    samples: list[float] = []
    end = time.perf_counter() + _SECONDS
    while len(samples) < ROUNDS and (len(samples) < _MIN_ROUNDS or time.perf_counter() < end):
        before_each()
        whole = _timed(call, number)
        inside_ns = inside(number)
        aside = _timed(without, number) if without is not None else 0
        samples.append((whole - inside_ns - aside) / number / 1000)
    low, high = median_interval(samples)
    middle = max(statistics.median(samples), 0.0)
    return Cost(middle, (max(low, 0.0), max(high, 0.0)), len(samples))


def _fitting(call: Callable[[], object], inside: Callable[[int], float]) -> int:
    number = 1
    while number < _MAX_CALLS:
        spent = _timed(call, number)
        inside(number)
        if spent >= _ROUND_NS:
            break
        number *= 2
    return number


def _timed(call: Callable[[], object], number: int) -> int:
    start = time.perf_counter_ns()
    for _ in range(number):
        call()
    return time.perf_counter_ns() - start
