"""The sampler: rounds that go on, calls that come and go, and what is said of them."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from compilescope.analysis.figures.intervals import ratio
from compilescope.measure import sampler as sampler_module
from compilescope.measure.call_in_context import Surrounded
from compilescope.measure.sampler import Sampler, _Series
from compilescope.measure.stopwatch import HostStopwatch, Reading


class Machine(HostStopwatch):
    """A stopwatch on which time passes in calls only, and some of it on a device."""

    def __init__(self, device: str = "cpu") -> None:
        self.ns = 0
        super().__init__(lambda: self.ns)
        self.device = device

    def call(self, *microseconds: float) -> Callable[[], None]:
        """A call that takes so long, the last of them from then on."""
        times = itertools.chain(microseconds, itertools.repeat(microseconds[-1]))

        def run() -> None:
            self.ns += int(next(times) * 1000)

        return run

    def time(self, call: Callable[[], object], batch: int) -> Reading:
        wall = super().time(call, batch).wall
        return Reading(wall) if self.device == "cpu" else Reading(wall, wall // 4, wall // 2)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without other load; that of the one that runs the tests widens intervals."""
    monkeypatch.setattr(sampler_module, "competing", lambda timing: False)
    return Machine()


def test_rounds_turn_and_are_kept(machine: Machine) -> None:
    order: list[str] = []
    calls = {name: machine.call(us) for name, us in zip("ABC", (1e4, 2e4, 3e4), strict=True)}
    sampler = Sampler(calls, before_each=order.append, stopwatch=machine)
    for name in sampler.names:
        assert sampler.warm_up(name, 1.0)
    order.clear()
    rounds = [sampler.round() for _ in range(7)]
    assert "".join(order) == "ABCCBACABBACBCAACBABC"
    assert rounds[1] == {"C": 3e4, "B": 2e4, "A": 1e4}
    assert list(rounds[1]) == ["C", "B", "A"]
    assert sampler.rounds == 7
    assert sampler.samples["B"] == [2e4] * 7


@pytest.mark.parametrize("us", [300, 3_000, 30_000])
def test_a_sample_is_not_of_the_caches_that_another_call_left(machine: Machine, us: int) -> None:
    """Eager fills the caches and a call after it takes longer; two equal calls stay equal."""
    before = ""

    def call(name: str) -> Callable[[], None]:
        def run() -> None:
            nonlocal before
            slower = {name: 1.0, "eager": 2.0}.get(before, 1.2)
            before = name
            machine.ns += int(us * slower * 1000)

        return run

    sampler = Sampler({name: call(name) for name in ("python", "cpp", "eager")}, stopwatch=machine)
    for _ in range(9):
        sampler.round()
    assert sampler.samples["python"] == sampler.samples["cpp"] == [us] * 9


def test_no_long_call_always_follows_the_same(machine: Machine) -> None:
    order: list[str] = []
    sampler = Sampler(
        {name: machine.call(1e6) for name in "ABCD"}, before_each=order.append, stopwatch=machine
    )
    for name in sampler.names:
        sampler.warm_up(name, 1.0)
    order.clear()
    for _ in range(8):
        sampler.round()
    before = {
        name: {order[i - 1] for i in range(1, len(order)) if order[i] == name} for name in "ABCD"
    }
    assert all(len(others - {name}) >= 2 for name, others in before.items())


def test_a_batch_enters_the_context_of_its_call_once(machine: Machine) -> None:
    entries: list[str] = []

    @contextmanager
    def context() -> Iterator[None]:
        entries.append("in")
        machine.ns += 10**9  # is not timed
        yield
        entries.append("out")

    call = Surrounded(machine.call(10), context)
    sampler = Sampler({"A": call, "B": machine.call(10)}, stopwatch=machine)
    for name in sampler.names:
        sampler.warm_up(name, 100.0)
    entries.clear()
    assert sampler.round() == {"A": 10, "B": 10}
    assert entries == ["in", "out"]
    call()
    assert entries == ["in", "out"] * 2


def test_samples_are_as_long_as_asked_and_as_the_clock_needs(machine: Machine) -> None:
    calls = {"quick": machine.call(0.1), "slow": machine.call(7_000)}
    long = Sampler(calls, sample_s=0.01, stopwatch=machine)
    long.round()
    assert long.timing("quick").calls_per_sample == 100_000
    assert long.timing("slow").calls_per_sample == 1
    short = Sampler(calls, sample_s=0.0, stopwatch=machine)
    short.round()
    assert short.timing("quick").calls_per_sample == machine.shortest_ns / 100


def test_a_warm_up_ends_when_times_no_longer_change(machine: Machine) -> None:
    falling = [900, 500, 300, 250, 220, 200, 170, 140, 120, 110, 105]
    sampler = Sampler(
        {"a": machine.call(*falling, 100), "b": machine.call(100)},
        baseline="b",
        sample_s=0.0,
        stopwatch=machine,
    )
    assert sampler.warm_up("a", 1.0)
    assert sampler.warm_up("b", 1.0)
    for _ in range(20):
        sampler.round()
    timing = sampler.timing("a")
    assert timing.settled
    assert set(timing.samples_us) == {100.0}
    assert timing.warmup_calls >= len(falling)
    assert sampler.timing("b").warmup_calls < len(falling)


@pytest.mark.parametrize("factor", [0.95, 1.05])
def test_a_call_that_goes_on_changing_has_not_settled(machine: Machine, factor: float) -> None:
    us = 10_000.0

    def run() -> None:
        nonlocal us
        us *= factor
        machine.ns += int(us * 1000)

    sampler = Sampler({"a": run, "b": machine.call(100)}, sample_s=0.0, stopwatch=machine)
    assert not sampler.warm_up("a", 0.15)
    sampler.round()
    assert not sampler.timing("a").settled
    assert sampler.timing("b").settled


def test_a_disturbed_sample_does_not_make_batches_short(machine: Machine) -> None:
    sampler = Sampler({"a": machine.call(100, 100, 9e5, 100)}, sample_s=0.002, stopwatch=machine)
    assert sampler.warm_up("a", 5.0)
    sampler.round()
    assert sampler.timing("a").calls_per_sample == 20


def test_who_joins_later_is_compared_over_the_rounds_it_shared(machine: Machine) -> None:
    """The machine gets slower half-way: the medians' quotient would be wrong."""
    pace = 1.0

    def call(us: float) -> Callable[[], None]:
        def run() -> None:
            machine.ns += int(us * pace * 1000)

        return run

    sampler = Sampler({"eager": call(1000), "first": call(500)}, stopwatch=machine)
    for _ in range(12):
        sampler.round()
    pace = 3.0
    sampler.add("late", call(250))
    sampler.round()
    assert [sampler.timing(name).few for name in ("first", "late")] == [False, True]
    for _ in range(9):
        assert sampler.round().keys() == {"eager", "first", "late"}
    late = sampler.timing("late")
    assert sampler.rounds_of("late") == list(range(12, 22))
    assert sampler.rounds_of("first") == list(range(22))
    assert late.samples_us == [750.0] * 10
    assert late.warmup_calls > 0
    assert late.settled
    assert late.ratio == pytest.approx(4)
    # From the eighth round that both had, as numbered in the whole measurement.
    assert [point.rounds for point in late.running] == [20, 21, 22]
    assert sampler.timing("first").ratio == pytest.approx(2)
    assert sampler.timing("eager").median_us / late.median_us != pytest.approx(4)

    sampler.remove("first")
    assert sampler.names == ["eager", "late"]
    assert sampler.round().keys() == {"eager", "late"}
    with pytest.raises(KeyError):
        sampler.timing("first")


def test_without_the_baseline_there_is_no_ratio(machine: Machine) -> None:
    sampler = Sampler({"a": machine.call(100)}, stopwatch=machine)
    with pytest.raises(ValueError, match="no sample yet"):
        sampler.timing("a")
    sampler.round()
    timing = sampler.timing("a")
    assert (timing.ratio, timing.ratio_interval, timing.differs) == (None, None, None)
    sampler.add("eager", machine.call(100))
    assert sampler.timing("a").ratio is None
    sampler.round()
    assert sampler.timing("a").ratio == pytest.approx(1)


def test_earlier_ratios_do_not_depend_on_when_they_are_asked_for(machine: Machine) -> None:
    drift = itertools.count(100)

    def eager() -> None:
        machine.ns += next(drift) * 1000

    calls = {"eager": eager, "often": machine.call(100), "once": machine.call(100)}
    sampler = Sampler(calls, stopwatch=machine)
    for _ in range(300):
        sampler.round()
        sampler.timing("often")
    often, once = sampler.timing("often"), sampler.timing("once")
    assert often.running == once.running
    assert (often.running[0].rounds, len(often.running)) == (8, 60)
    assert often.running[-1].rounds <= 300
    eager_us, fixed_us = sampler.timing("eager").samples_us, often.samples_us
    for point in often.running[::20]:
        expected = ratio(eager_us[: point.rounds], fixed_us[: point.rounds])
        assert (point.ratio, point.interval) == (expected.value, expected.interval)


def test_a_difference_is_said_once_there_are_rounds_to_tell(machine: Machine) -> None:
    calls = {"eager": machine.call(100), "same": machine.call(100), "slow": machine.call(103)}
    sampler = Sampler(calls, stopwatch=machine)
    sampler.round()
    assert [sampler.timing(name).differs for name in calls] == [None, None, None]
    for _ in range(20):
        sampler.round()
    assert [sampler.timing(name).differs for name in calls] == [None, False, True]
    assert sampler.timing("slow").ratio == pytest.approx(1 / 1.03)


@pytest.mark.parametrize("samples_before", [0, 1, 2])
def test_a_cancelled_round_leaves_nothing(machine: Machine, samples_before: int) -> None:
    sampler = Sampler({name: machine.call(5_000) for name in "ABC"}, stopwatch=machine)
    sampler.round()
    asked = itertools.count()
    assert sampler.round(lambda: next(asked) >= samples_before) == {}
    assert sampler.rounds == 1
    assert {len(samples) for samples in sampler.samples.values()} == {1}


def test_a_warm_up_that_is_cancelled_is_made_up_for(machine: Machine) -> None:
    sampler = Sampler({"a": machine.call(100)}, stopwatch=machine)
    asked = itertools.count()
    assert not sampler.warm_up("a", 1.0, lambda: next(asked) >= 2)
    # Canceled only while it warmed up: there is no round either.
    asked = itertools.count()
    assert sampler.round(lambda: next(asked) == 2) == {}
    assert sampler.samples == {"a": []}
    assert sampler.round() == {"a": 100.0}
    assert sampler.timing("a").settled


def test_a_round_in_which_a_call_fails_leaves_nothing(machine: Machine) -> None:
    def fail() -> None:
        machine.ns += 100_000
        if failing:
            raise KeyboardInterrupt

    failing = False
    sampler = Sampler({"a": machine.call(100), "b": fail}, stopwatch=machine)
    sampler.round()
    failing = True
    with pytest.raises(KeyboardInterrupt):
        sampler.round()
    assert sampler.rounds == 1
    assert {len(samples) for samples in sampler.samples.values()} == {1}
    assert gc.isenabled()


def test_a_round_that_is_interrupted_as_its_samples_are_kept_leaves_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = Sampler({"a": machine.call(100), "b": machine.call(50)}, stopwatch=machine)
    sampler.round()
    keep = _Series.add_sample

    def keep_one(series: _Series, number: int, reading: Any) -> None:
        keep(series, number, reading)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_Series, "add_sample", keep_one)
        with pytest.raises(KeyboardInterrupt):
            sampler.round()
    assert sampler.rounds == 1
    assert {len(samples) for samples in sampler.samples.values()} == {1}
    assert len(sampler.timing("a").samples_us) == len(sampler.timing("b").samples_us) == 1
    sampler.round()
    assert [sampler.rounds_of(name) for name in ("a", "b")] == [[0, 1], [0, 1]]


def test_host_and_device_are_told_apart() -> None:
    machine = Machine("cuda")
    calls = {"eager": machine.call(100), "a": machine.call(50)}
    sampler = Sampler(calls, stopwatch=machine)
    for _ in range(9):
        sampler.round()
    timing = sampler.timing("eager")
    assert timing.device == "cuda"
    assert (timing.median_us, timing.device_us, timing.host_us) == (100.0, 50.0, 25.0)
    assert sampler.timing("a").ratio == pytest.approx(2)


def test_on_the_cpu_there_is_one_time(machine: Machine) -> None:
    sampler = Sampler({"eager": machine.call(100)}, stopwatch=machine)
    sampler.round()
    timing = sampler.timing("eager")
    assert timing.device == "cpu"
    assert (timing.device_us, timing.host_us) == (None, None)


def test_threads_are_those_of_the_beginning(machine: Machine) -> None:
    seen = set()

    def call() -> None:
        seen.add(torch.get_num_threads())
        machine.ns += 5_000_000

    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        sampler = Sampler({"a": call}, stopwatch=machine)
        sampler.round()
        torch.set_num_threads(1)
        sampler.round()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
    assert seen == {2}
    assert sampler.timing("a").threads == 2


def test_what_is_known_of_the_state_is_passed_on(machine: Machine) -> None:
    sampler = Sampler(
        {"a": machine.call(100)}, initial_state="restored", changes=["x"], stopwatch=machine
    )
    sampler.round()
    timing = sampler.timing("a")
    assert (timing.initial_state, timing.changes) == ("restored", ["x"])


def test_garbage_is_collected_between_rounds_only(machine: Machine) -> None:
    states = set()

    def call() -> None:
        states.add(gc.isenabled())
        machine.ns += 5_000_000

    sampler = Sampler({"a": call}, stopwatch=machine)
    sampler.warm_up("a", 0.1)
    assert gc.isenabled()
    sampler.round()
    assert gc.isenabled()
    assert states == {False}


def test_nothing_to_sample() -> None:
    sampler = Sampler({})
    assert sampler.round() == {}
    assert sampler.samples == {}
