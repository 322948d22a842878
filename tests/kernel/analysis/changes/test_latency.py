"""Latencies of two sessions: what is certainly slower, and under which conditions."""

from __future__ import annotations

import pytest
from compilescope.analysis.changes.latency import LatencyChange, latency_change
from compilescope.report import Environment, Timing

HERE = Environment(torch="2.12.0", cpu="A", threads=4)


def timing(us: float, ratio: float | None = None, **fields: object) -> Timing:
    """A measurement with narrow intervals."""
    interval = None if ratio is None else (ratio * 0.99, ratio * 1.01)
    plain = Timing(median_us=us, interval_us=(us * 0.99, us * 1.01), ratio=ratio)
    plain.ratio_interval = interval
    for name, value in fields.items():
        setattr(plain, name, value)
    return plain


def change(before: Timing, after: Timing, on: Environment = HERE) -> LatencyChange:
    return latency_change(before, after, HERE, on)


@pytest.mark.parametrize(
    ("us", "ratio", "verdict"),
    [
        (20.0, 1.0, "slower"),
        (20.0, 2.0, "higher, but not clearly slower compared with eager"),
        (20.0, 4.0, "higher, but not clearly slower compared with eager"),
        (10.0, 1.0, "no clear difference"),
        (5.0, 4.0, "faster"),
        (5.0, 2.0, "lower, but not clearly faster compared with eager"),
        (20.0, None, "higher; without a ratio to eager, the machine may be the cause"),
    ],
)
def test_a_call_is_slower_only_if_it_also_is_compared_with_eager(
    us: float, ratio: float | None, verdict: str
) -> None:
    compared = change(timing(10.0, 2.0), timing(us, ratio))
    assert compared.text.endswith(f": {verdict}")
    assert compared.is_slower is (verdict == "slower")
    assert compared.is_faster is (verdict == "faster")


def test_few_samples_make_nothing_slower() -> None:
    slower = change(timing(10.0, 2.0), timing(20.0, 1.0, few=True))
    faster = change(timing(20.0, 1.0, few=True), timing(10.0, 2.0))
    assert not slower.is_slower
    assert not faster.is_faster
    assert slower.text.endswith(": too few samples to tell")


def test_another_baseline_is_no_comparison_with_eager() -> None:
    assert not change(timing(10.0, 2.0), timing(20.0, 1.0, baseline="python")).is_slower


def test_different_conditions_are_named() -> None:
    there = Environment(torch="2.13.0", cpu="B", threads=8)
    before = timing(10.0, 2.0, threads=4, other_processors=0.1)
    after = timing(10.0, 2.0, threads=8, other_processors=3.0)
    assert change(before, after, there).conditions == [
        "torch 2.12.0 → 2.13.0",
        "processor A → B",
        "threads 4 → 8",
        "processors that other processes used 0.1 → 3.0",
    ]
    assert change(before, before).conditions == []
