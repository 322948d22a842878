"""Calls that change what their own guards compare: each compiles again."""

from __future__ import annotations

import time
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Report
from torch import nn


class Counting(nn.Module):
    """Counts its calls, in a number that the result depends on."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


class CountingInATensor(nn.Module):
    """The same in a buffer."""

    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * self.calls


class Recording(nn.Module):
    """Keeps its results in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.results.append(x.detach())
        return x + 1


class Emptying(nn.Module):
    """Keeps the result of the last call alone in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.results: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.results = [x.detach()]
        return x + 1


class StartingOnce(nn.Module):
    """Changes a flag in its first call only: one recompile, and no more."""

    def __init__(self) -> None:
        super().__init__()
        self.is_started = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.is_started:
            self.is_started = True
            return x + 1
        return x


def inspect(model: nn.Module) -> Report:
    variants = {"captured": cs.Variant(backend="eager")}
    return cs.inspect(model, (torch.ones(3),), variants=variants, run=True)


def test_a_call_that_always_recompiles_is_said_to() -> None:
    model = Counting()
    report = inspect(model)
    timing = report.variant("captured").timing
    assert timing is not None
    assert timing.recompiles == "self.calls"
    text = str(report)
    assert (
        "Every call recompiles, up to torch's limit: it changes self.calls, which a guard compares."
        in text
    )
    assert "is fastest" not in text
    assert "1. Change self.calls outside of what is compiled, or keep it in a tensor" in text
    assert "Do not compile this call" not in text
    assert model.calls == 0
    # torch itself: as many compilations as its limit allows.
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled: Any = torch.compile(model, backend=counter)
    for _ in range(7):
        compiled(torch.ones(3))
    assert counter.frame_count == 7


def test_a_list_that_grows_in_each_call_recompiles() -> None:
    report = inspect(Recording())
    timing = report.variant("captured").timing
    assert timing is not None
    assert timing.recompiles == "self.results"
    assert "it changes self.results, which a guard compares" in str(report)


def test_only_what_the_guard_compares_is_to_be_changed_outside() -> None:
    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters())
    counter = Counting()

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        counter(model(x)).sum().backward()
        optimizer.step()

    variants = {"captured": cs.Variant(backend="eager")}
    report = cs.inspect(step, (torch.ones(3),), variants=variants, run=True)
    timing = report.variant("captured").timing
    assert timing is not None
    assert timing.changes != ["counter.calls"]
    assert "it changes counter.calls, which a guard compares" in str(report)
    assert "1. Change counter.calls outside of what is compiled" in str(report)


@pytest.mark.parametrize("model", [CountingInATensor(), Emptying(), StartingOnce()])
def test_others_are_not(model: nn.Module) -> None:
    timing = inspect(model).variant("captured").timing
    assert timing is not None
    assert timing.recompiles == ""


def test_an_optimizer_is_not() -> None:
    model = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(model.parameters())

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    variants = {"captured": cs.Variant(backend="eager")}
    report = cs.inspect(step, (torch.ones(3),), variants=variants, run=True)
    timing = report.variant("captured").timing
    assert timing is not None
    assert timing.recompiles == ""


def test_a_call_whose_own_guards_fail_afterwards_is_timed() -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * time.perf_counter()

    variants = {"captured": cs.Variant(backend="eager")}
    report = cs.inspect(scaled, (torch.ones(3),), variants=variants, run=True)
    assert report.variant("captured").stage == "built"
    assert report.variant("captured").timing is not None
