"""Intervals: as wide as they must be, also where noise comes and goes."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator

import pytest
from compilescope.analysis.figures import intervals
from compilescope.analysis.figures.intervals import median_interval, order_statistics, ratio

Noise = Callable[[random.Random, int], tuple[list[float], list[float]]]
"""Samples of two equal calls, round by round."""


@pytest.mark.parametrize(
    ("count", "ranks"),
    # From tables of the sign test: the 95 % interval of a median of n.
    [
        (1, (1, 1)),
        (2, (1, 2)),
        (5, (1, 5)),
        (6, (1, 6)),
        (9, (2, 8)),
        (20, (6, 15)),
        (100, (40, 61)),
    ],
)
def test_order_statistics(count: int, ranks: tuple[int, int]) -> None:
    samples = list(range(1, count + 1))
    random.Random(1).shuffle(samples)
    assert order_statistics(samples) == ranks


@pytest.mark.parametrize("count", [20, 30, 50, 400])
def test_a_median_s_interval_holds_it_as_often_as_it_says(count: int) -> None:
    draw = random.Random(2)
    hits = 0
    for _ in range(500):
        low, high = median_interval([draw.expovariate(1) for _ in range(count)])
        hits += low <= math.log(2) <= high
    assert 465 <= hits <= 497


def test_a_median_s_interval_is_of_what_was_seen() -> None:
    low, high = median_interval([10.0] * 8 + [1000.0] * 7)
    assert (low, high) == (10.0, 1000.0)


def test_a_median_s_interval_holds_it_where_samples_resemble_the_one_before() -> None:
    draw = random.Random(3)
    hits = taken_as_independent = 0
    for _ in range(150):
        samples = [math.exp(sample) for sample in _resembling(draw, 500, 0.9)]
        low, high = median_interval(samples)
        hits += low <= 1 <= high
        low, high = order_statistics(samples)
        taken_as_independent += low <= 1 <= high
    assert hits >= 135
    assert taken_as_independent < 100


def _resembling(draw: random.Random, count: int, share: float) -> Iterator[float]:
    """A first-order autoregression with a spread of 0.05."""
    now = draw.gauss(0, 0.05)
    for _ in range(count):
        yield now
        now = share * now + math.sqrt(1 - share * share) * draw.gauss(0, 0.05)


def _independent(draw: random.Random, count: int) -> tuple[list[float], list[float]]:
    result, other = ([1 + draw.expovariate(20) for _ in range(count)] for _ in "ab")
    return result, other


def _each_its_own(draw: random.Random, count: int) -> tuple[list[float], list[float]]:
    """Each call is slow for some ten rounds, then quick again: the worst that can be."""
    result, other = ([math.exp(x) for x in _resembling(draw, count, 0.9)] for _ in "ab")
    return result, other


def _a_load(draw: random.Random, count: int) -> tuple[list[float], list[float]]:
    """Something else runs now and then, and slows down both."""
    load: list[float] = []
    while len(load) < count:
        load += [draw.choice([1.0, 1.3, 2.0])] * draw.randrange(5, 80)
    result, other = ([x * (1 + draw.expovariate(30)) for x in load[:count]] for _ in "ab")
    return result, other


def _stalls(draw: random.Random, count: int) -> tuple[list[float], list[float]]:
    """A tenth of the samples takes several times as long."""
    result, other = (
        [
            1 + draw.expovariate(50) + (draw.random() < 0.1) * draw.expovariate(0.3)
            for _ in range(count)
        ]
        for _ in "ab"
    )
    return result, other


@pytest.mark.parametrize(
    ("noise", "count"),
    [
        (_independent, 11),
        (_independent, 300),
        (_each_its_own, 300),
        (_each_its_own, 2000),
        (_a_load, 40),
        (_a_load, 300),
        (_stalls, 40),
        (_stalls, 300),
    ],
)
def test_equal_calls_are_called_different_in_a_twentieth_at_most(noise: Noise, count: int) -> None:
    draw = random.Random(4)
    runs = 200
    assert sum(bool(ratio(*noise(draw, count)).differs) for _ in range(runs)) <= 0.05 * runs


@pytest.mark.parametrize("noise", [_independent, _a_load, _stalls])
def test_three_percent_are_found(noise: Noise) -> None:
    draw = random.Random(5)
    outcome = 0
    for _ in range(50):
        slow, quick = noise(draw, 400)
        result = ratio([1.03 * sample for sample in slow], quick)
        outcome += bool(result.differs) and result.value > 1
    assert outcome >= 45


def test_a_ratio_and_its_interval() -> None:
    draw = random.Random(6)
    load = [1 + draw.random() for _ in range(100)]
    exact = ratio([2.0 * sample for sample in load], load)
    assert exact.value == pytest.approx(2)
    assert exact.interval == pytest.approx((2, 2))
    noisy = [2.0 * sample * (1 + 0.1 * draw.random()) for sample in load]
    result = ratio(noisy, load)
    assert 2.05 < result.interval[0] < result.value < result.interval[1] < 2.15
    assert result.differs
    assert ratio(noisy, load) == result
    back = ratio(load, noisy)
    assert back.value == pytest.approx(1 / result.value)
    assert back.interval == pytest.approx((1 / result.interval[1], 1 / result.interval[0]))


def test_a_median_between_two_levels_of_load_is_no_difference() -> None:
    """Half the rounds are slow: each median falls on either side by chance."""
    load = [1.0] * 50 + [1.5] * 51
    results = [x * 1.0001 for x in load]
    other = [1.5, *load[1:]]
    assert ratio(results, other).value == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("busy", [0.6, 0.85])
def test_a_load_that_slows_one_call_only_widens_its_ratio(busy: float) -> None:
    """Two threads wait for each other in most rounds; one thread hardly notices the load."""
    draw = random.Random(8)
    one_thread = [1 + draw.expovariate(30) for _ in range(200)]
    two_threads = [
        x * (draw.uniform(4, 6) if draw.random() < busy else 1) for x in one_thread[100:] * 2
    ]
    result = ratio(one_thread, two_threads, disturbed=True)
    assert result.value < 0.4
    assert ratio(one_thread, two_threads).interval[1] < result.interval[1]
    assert result.interval[0] < result.value
    assert result.interval[1] == pytest.approx(1, abs=0.05)


def test_few_rounds_say_nothing_of_a_difference() -> None:
    result = ratio([3.0], [2.0])
    assert result.interval == pytest.approx((1.5, 1.5))
    assert result.differs is None
    seven = ratio([2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6], [1.0] * 7)
    assert seven.interval == pytest.approx((2.0, 2.6))
    assert seven.differs is None
    assert ratio([2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7], [1.0] * 8).differs is True
    assert ratio([1.0] * 8, [1.0] * 8).differs is False


def test_thousands_of_rounds_take_milliseconds() -> None:
    draw = random.Random(7)
    result, other = _independent(draw, 5000)
    took = []
    for _ in range(5):
        start = time.process_time()
        ratio(result, other)
        median_interval(result)
        took.append(time.process_time() - start)
    assert min(took) < 1, "time that grows with the square takes far longer"


def test_the_fewest_rounds_with_an_interval_of_their_ratio() -> None:
    rounds = [1.0] * intervals.MIN_ROUNDS
    assert ratio(rounds, rounds).differs is not None
    assert ratio(rounds[1:], rounds[1:]).differs is None
