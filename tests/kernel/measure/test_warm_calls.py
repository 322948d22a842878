"""The calls before a profiled one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from compilescope.measure import warm_calls
from compilescope.measure.warm_calls import WarmCalls
from compilescope.torch_api.kernels import timers
from compilescope.torch_api.kernels.profiler_events import Event, ProfiledCall


def test_they_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[str] = []

    def read(events: Sequence[Event], sources: Sequence[str]) -> list[ProfiledCall]:
        recorded.extend(event.name for event in events)
        return []

    monkeypatch.setattr(timers, "read_calls", read)
    values = torch.ones(8)
    calls = checks = 0

    def call() -> None:
        nonlocal calls
        calls += 1
        torch.sin(values)

    def check() -> None:
        nonlocal checks
        checks += 1

    timers.Profiler(device=False).profile(call, calls=2, before=WarmCalls(call, check))
    assert recorded.count("aten::sin") == 2
    assert calls == 8
    assert checks == 2


def test_a_long_call_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm_calls, "LONG_NS", 0)
    calls: list[int] = []
    warm = WarmCalls(lambda: calls.append(1))
    warm()
    warm()
    assert len(calls) == 1
