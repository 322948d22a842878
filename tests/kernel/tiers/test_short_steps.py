"""A thread that works in short steps."""

from __future__ import annotations

import threading

import pytest
from compilescope.torch_api.inductor.background import short_steps
from compilescope.torch_api.inductor.background.short_steps import in_short_steps, pause_if_due

from ..stand_in_clock import Clock


class WorkClock(Clock):
    """A clock that work and pauses advance, and counts the pauses."""

    pauses = 0

    def sleep(self, seconds: float) -> None:
        self.pauses += 1
        self.advance(seconds)

    def work(self, seconds: float) -> None:
        self.advance(seconds)
        pause_if_due()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> WorkClock:
    clock = WorkClock()
    monkeypatch.setattr(short_steps, "time", clock)
    return clock


def test_it_pauses_after_each_step(clock: WorkClock) -> None:
    with in_short_steps():
        for _ in range(100):
            clock.work(0.00003)
    # The fourth since the last pause ends after 0.12 ms.
    assert clock.pauses == 25


def test_it_pauses_only_in_a_block_and_in_its_thread(clock: WorkClock) -> None:
    clock.work(1.0)
    with in_short_steps():
        with in_short_steps():
            clock.work(1.0)
        assert clock.pauses == 1
        other = threading.Thread(target=clock.work, args=(1.0,))
        other.start()
        other.join()
        assert clock.pauses == 1
        clock.work(1.0)
        assert clock.pauses == 2
    clock.work(1.0)
    assert clock.pauses == 2
