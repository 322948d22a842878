"""Times: in turns, long enough for the clock, and honest about how sure they are."""

from __future__ import annotations

import gc
import itertools
import random
from collections.abc import Callable

import pytest
from compilescope.measure import timing
from compilescope.measure.layers import figure
from compilescope.measure.timing import time_calls

from ..stand_in_clock import Clock


class CallClock(Clock):
    """A clock that only the calls advance."""

    def call(self, microseconds: float) -> Callable[[], None]:
        return lambda: self.advance(microseconds / 1e6)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> CallClock:
    clock = CallClock()
    monkeypatch.setattr(timing, "time", clock)
    return clock


def test_times_are_those_of_the_clock(clock: CallClock) -> None:
    times = time_calls({"eager": clock.call(100), "cpp": clock.call(25), "slow": clock.call(1e5)})
    assert {name: candidate.median_us for name, candidate in times.items()} == {
        "eager": 100,
        "cpp": 25,
        "slow": 1e5,
    }
    assert times["cpp"].ratio == pytest.approx(4)
    assert times["cpp"].ratio_interval == pytest.approx((4, 4))
    assert times["cpp"].differs
    assert times["slow"].ratio == pytest.approx(1e-3)
    assert times["eager"].ratio is None
    assert times["cpp"].interval_us == (25, 25)
    assert times["slow"].calls_per_sample == 1
    assert times["cpp"].calls_per_sample == 13
    assert all(candidate.threads > 0 for candidate in times.values())
    # There is no time to see whether the slow one stays so.
    assert [candidate.settled for candidate in times.values()] == [True, True, False]
    assert all(candidate.device == "cpu" for candidate in times.values())


def test_a_budget_is_kept(clock: CallClock) -> None:
    time_calls({"eager": clock.call(100), "cpp": clock.call(25)}, budget_s=2.0)
    assert 2e9 <= clock.now_ns <= 2.6e9


def test_turns_rotate(clock: CallClock) -> None:
    order: list[str] = []
    time_calls({name: clock.call(1e6) for name in "ABC"}, budget_s=9.0, before_each=order.append)
    turns = ["".join(order[start : start + 3]) for start in range(3, len(order), 3)]
    assert turns[:3] == ["ABC", "CBA", "CAB"]


def test_a_slow_start_is_not_measured(clock: CallClock) -> None:
    durations = itertools.chain([10_000, 5_000, 2_000, 500], itertools.repeat(100))

    def settling() -> None:
        clock.advance(next(durations) / 1e6)

    call_timing = time_calls({"a": settling})["a"]
    assert max(call_timing.samples_us) == 100
    assert call_timing.warmup_calls >= 4


def test_a_call_that_never_settles_is_bounded(clock: CallClock) -> None:
    growing = itertools.count(100, 100)

    def unsettled() -> None:
        clock.advance(next(growing) / 1e6)

    assert time_calls({"a": unsettled})["a"].samples_us
    assert clock.now_ns < 2e9


def test_a_call_longer_than_the_budget_is_run_once_more(
    clock: CallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "OVERTIME", 4)  # as a user has it
    call_timing = time_calls({"a": clock.call(5e6)}, budget_s=0.1)["a"]
    assert call_timing.samples_us == [5e6]
    assert call_timing.interval_us == (5e6, 5e6)
    assert clock.now_ns == 10e9


def test_slow_calls_may_take_longer_than_the_budget(
    clock: CallClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "OVERTIME", 4)
    calls = {"eager": clock.call(5e5), "b": clock.call(4e5)}
    assert time_calls(calls, budget_s=0.6)["b"].few
    slow = time_calls(calls, budget_s=0.6, longest_s=20.0)["b"]
    assert not slow.few
    assert len(slow.samples_us) == 11
    assert slow.warmup_calls == 3
    assert slow.ratio == pytest.approx(1.25)


def test_a_round_that_is_cancelled_does_not_count(clock: CallClock) -> None:
    assert time_calls({"a": lambda: None}, cancelled=lambda: True) == {}
    runs = itertools.count(1)

    def call() -> None:
        clock.advance(0.05)
        taken.append(next(runs))

    taken: list[int] = []
    calls = {"eager": call, "b": call}
    assert time_calls(calls, budget_s=0.0, cancelled=lambda: len(taken) >= 3) == {}
    taken.clear()
    times = time_calls(calls, budget_s=9.0, cancelled=lambda: len(taken) >= 33)
    assert len(times["eager"].samples_us) == len(times["b"].samples_us) > 1


def test_progress_grows_to_one(clock: CallClock) -> None:
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


def test_real_calls() -> None:
    times = time_calls(
        {"eager": lambda: sum(range(20_000)), "b": lambda: sum(range(1000))}, budget_s=0.5
    )
    ratio = times["b"].ratio
    assert ratio is not None
    assert ratio > 1  # 20, but for what runs beside it


def test_a_figure_of_few_samples_has_no_interval() -> None:
    assert figure([3.0]) == (3.0, None)
    assert figure([1.0, 2.0, 3.0, 4.0, 5.0]).interval is None
    assert figure([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).interval == (1.0, 6.0)
