"""How busy other processes kept the processors."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import NamedTuple

import psutil
import pytest
from compilescope.measure import other_load
from compilescope.measure.other_load import OtherLoad
from compilescope.measure.sampler import Sampler


class Times(NamedTuple):
    """The times of a processor since it started, in seconds, as Linux counts them."""

    user: float = 0.0
    idle: float = 0.0
    iowait: float = 0.0
    steal: float = 0.0
    guest: float = 0.0


def test_idle_time_guests_and_this_process_are_not_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # The second processor is not this process's to use.
    readings = iter([[Times(), Times()], [Times(8.0, 2.0, 1.0, 1.0, 2.0), Times(user=10.0)]])
    moments = iter([100.0, 110.0])
    own = iter([SimpleNamespace(user=7.0, system=2.0), SimpleNamespace(user=9.0, system=3.0)])
    monkeypatch.setattr(other_load, "usable_processors", lambda: [0])
    monkeypatch.setattr(psutil, "cpu_times", lambda percpu: next(readings))
    monkeypatch.setattr(other_load, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    monkeypatch.setattr(psutil.Process, "cpu_times", lambda process: next(own))
    # Two of the eight seconds of user time are counted as a guest's, too; three are this process's.
    assert OtherLoad().processors() == pytest.approx((8.0 + 1.0 - 3.0) / 10)


def test_a_timing_counts_what_another_process_uses() -> None:
    busy = "while True: pass"
    processors = other_load.usable_processors()
    with subprocess.Popen([sys.executable, "-c", busy]) as other:
        try:
            sampler = Sampler({"eager": lambda: time.sleep(0.001)})
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                sampler.round()
            timing = sampler.timing("eager")
        finally:
            other.kill()
    assert timing.processors == len(processors) <= (os.cpu_count() or 1)
    # On a busy machine the other process may get little, but then others get the rest.
    assert timing.other_processors is not None
    assert timing.other_processors > 0.5
