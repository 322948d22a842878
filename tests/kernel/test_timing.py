"""Times: in turns, long enough for the clock, and honest about how sure they are."""

from __future__ import annotations

import gc
import itertools
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest
from compilescope.measure import timing
from compilescope.measure.intervals import median_interval, ratio_interval
from compilescope.measure.timing import time_calls


class Clock:
    """A clock that only the calls move."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter_ns(self) -> int:
        return self.now

    def call(self, microseconds: float) -> Callable[[], None]:
        def run() -> None:
            self.now += int(microseconds * 1000)

        return run

    def get_clock_info(self, name: str) -> Any:
        return time.get_clock_info("perf_counter")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timing, "time", clock)
    return clock


def test_times_are_those_of_the_clock(clock: Clock) -> None:
    times = time_calls({"eager": clock.call(100), "cpp": clock.call(25), "slow": clock.call(1e5)})
    assert {name: one.median_us for name, one in times.items()} == {
        "eager": 100,
        "cpp": 25,
        "slow": 1e5,
    }
    assert times["cpp"].ratio == 4
    assert times["cpp"].ratio_interval == (4, 4)
    assert times["slow"].ratio == 1e-3
    assert times["eager"].ratio is None
    assert times["cpp"].interval_us == (25, 25)
    assert times["slow"].calls_per_sample == 1
    assert times["cpp"].calls_per_sample == 33
    assert all(one.device == "cpu" for one in times.values())


def test_a_budget_is_kept(clock: Clock) -> None:
    time_calls({"eager": clock.call(100), "cpp": clock.call(25)}, budget_s=2.0)
    assert 2e9 <= clock.now <= 2.6e9


def test_turns_rotate(clock: Clock) -> None:
    order: list[str] = []
    time_calls({name: clock.call(1e6) for name in "ABC"}, budget_s=9.0, before_each=order.append)
    turns = ["".join(order[start : start + 3]) for start in range(3, len(order), 3)]
    assert turns[:3] == ["ABC", "CAB", "BCA"]


def test_a_slow_start_is_not_measured(clock: Clock) -> None:
    durations = itertools.chain([10_000, 5_000, 2_000, 500], itertools.repeat(100))

    def settling() -> None:
        clock.now += next(durations) * 1000

    one = time_calls({"a": settling})["a"]
    assert max(one.samples_us) == 100
    assert one.warmup_calls >= 4


def test_a_call_that_never_settles_is_bounded(clock: Clock) -> None:
    growing = itertools.count(100, 100)

    def unsettled() -> None:
        clock.now += next(growing) * 1000

    assert time_calls({"a": unsettled})["a"].samples_us
    assert clock.now < 2e9


def test_a_call_longer_than_the_budget_is_run_once_more(clock: Clock) -> None:
    one = time_calls({"a": clock.call(5e6)}, budget_s=0.1)["a"]
    assert one.samples_us == [5e6]
    assert one.interval_us == (5e6, 5e6)
    assert clock.now == 10e9


def test_cancelled() -> None:
    assert time_calls({"a": lambda: None}, cancelled=lambda: True) == {}
    asked = itertools.count()
    times = time_calls(
        {"eager": lambda: time.sleep(0.01), "b": lambda: time.sleep(0.01)},
        budget_s=0.0,
        cancelled=lambda: next(asked) >= 3,
    )
    assert list(times) == ["eager"]


def test_progress_grows_to_one(clock: Clock) -> None:
    seen: list[float] = []
    time_calls({"a": clock.call(100)}, progress=seen.append)
    assert seen == sorted(seen)
    assert 0 < seen[0] < 0.1
    assert seen[-1] == 1.0


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before(enabled: bool) -> None:
    states = []

    def call() -> None:
        states.append(gc.isenabled())
        if len(states) > 5:
            raise KeyboardInterrupt

    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(KeyboardInterrupt):
            time_calls({"a": call})
        assert gc.isenabled() is enabled
    finally:
        gc.enable()
    assert not any(states)


def test_the_global_generator_is_left_alone() -> None:
    state = random.getstate()
    time_calls({"eager": lambda: None, "b": lambda: None}, budget_s=0.01)
    assert random.getstate() == state


def test_nothing_to_time() -> None:
    assert time_calls({}, budget_s=0.0) == {}


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
    assert median_interval(samples) == ranks


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    draw = random.Random(2)
    hits = 0
    for _ in range(1000):
        low, high = median_interval([draw.expovariate(1) for _ in range(30)])
        hits += low <= 0.6931 <= high
    assert 930 <= hits <= 990


def test_thousands_of_samples_have_an_interval() -> None:
    low, high = median_interval([float(one) for one in range(5000)])
    # Half the samples, and 1.96 standard deviations of a binomial on both sides.
    assert (low, high) == (2430.0, 2569.0)


def test_the_ratio_s_interval() -> None:
    draw = random.Random(3)
    load = [1 + draw.random() for _ in range(100)]
    above = [2.0 * one for one in load]
    assert ratio_interval(above, load) == (2.0, 2.0)
    noisy = [one * (1 + 0.1 * draw.random()) for one in above]
    low, high = ratio_interval(noisy, load)
    assert 2.0 < low < statistics.median(noisy) / statistics.median(load) < high < 2.2
    assert ratio_interval(noisy, load) == (low, high)
    assert ratio_interval([3.0], [2.0]) == (1.5, 1.5)


def test_real_calls() -> None:
    times = time_calls(
        {"eager": lambda: sum(range(2000)), "b": lambda: sum(range(1000))}, budget_s=0.5
    )
    ratio = times["b"].ratio
    assert ratio is not None
    assert 1.5 < ratio < 2.7
    assert len(times["b"].samples_us) >= 50
