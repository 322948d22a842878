"""The calls after a swap, served by both wrappers in turns and timed."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from compilescope.report.tiers import SwapGain
from compilescope.tiers import alternating_calls
from compilescope.tiers.alternating_calls import CALLS, AlternatingCalls

from ..stand_in_clock import Clock


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(alternating_calls, "time", clock)
    return clock


def test_both_serve_in_turns_until_there_are_enough(clock: Clock) -> None:
    served: list[str] = []
    gains: list[SwapGain | None] = []

    def wrapper(name: str, call_us: float) -> Any:
        def call(inputs: list[Any]) -> str:
            # A wrapper's first call is slower, and does not count.
            clock.advance((1000 if name not in served else call_us) * 1e-6)
            served.append(name)
            return name

        return call

    timed = AlternatingCalls(
        wrapper("python", 118), wrapper("cpp", 96), is_host_time=False, settle=gains.append
    )
    for _ in range(CALLS + 1):
        assert [timed([]), timed([])] == ["python", "cpp"]
    (gain,) = gains
    assert gain is not None
    assert (gain.before_us, gain.after_us) == pytest.approx((118, 96))
    assert gain.calls == CALLS
    assert gain.is_clear
    assert str(gain) == "118 µs → 96.0 µs per call"
    # Whoever still has it is served by the new wrapper.
    assert timed([]) == "cpp"
    assert len(gains) == 1


def test_an_exception_is_the_users_and_does_not_count(clock: Clock) -> None:
    calls = 0

    def interrupted(inputs: list[Any]) -> str:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise KeyboardInterrupt
        return "python"

    timed = AlternatingCalls(
        interrupted, lambda inputs: "cpp", is_host_time=True, settle=lambda gain: None
    )
    with pytest.raises(KeyboardInterrupt):
        timed([])
    assert [timed([]), timed([])] == ["python", "cpp"]


def test_other_threads_are_not_timed_and_do_not_wait() -> None:
    answers: list[str] = []
    entered, leave = threading.Event(), threading.Event()

    def slow(inputs: list[Any]) -> str:
        entered.set()
        assert leave.wait(600)
        return "python"

    timed = AlternatingCalls(
        slow, lambda inputs: "cpp", is_host_time=False, settle=lambda gain: None
    )
    thread = threading.Thread(target=lambda: answers.append(timed([])))
    thread.start()
    assert entered.wait(600)
    assert timed([]) == "cpp"
    leave.set()
    thread.join()
    assert answers == ["python"]
