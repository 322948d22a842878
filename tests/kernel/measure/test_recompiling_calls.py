"""Calls that change what their own guards compare: each compiles again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
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


class CountingAndRecording(Recording):
    """Changes two values, which one guard each compares."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count()
        return x * self.calls + len(self.results)

    def count(self) -> None:
        self.calls += 1
        self.results.append(torch.zeros(()))


class CountingOutside(CountingAndRecording):
    """Leaves the number, or both values, to its caller."""

    def __init__(self, *, both: bool) -> None:
        super().__init__()
        self.both = both

    def count(self) -> None:
        if not self.both:
            self.results.append(torch.zeros(()))


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
        return x * 2


class Masking(nn.Module):
    """Makes its mask in the first call, and memoizes its scale in a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.mask: torch.Tensor | None = None
        self.scales: dict[int, float] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mask is None:
            self.mask = torch.ones(3)
        if x.shape[0] not in self.scales:
            self.scales[x.shape[0]] = x.shape[0] ** -0.5
        return x * self.mask * self.scales[x.shape[0]]


def inspect(subject: Callable[..., object]) -> Report:
    variants = {"captured": cs.Variant(backend="eager")}
    return cs.inspect(subject, (torch.ones(3),), variants=variants, run=True)


def compilations_of(subject: Callable[..., object]) -> int:
    """How often torch itself compiles in seven calls."""
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled: Any = torch.compile(subject, backend=counter)
    for _ in range(7):
        compiled(torch.ones(3))
    return int(counter.frame_count)


def test_a_call_that_always_recompiles_is_said_to() -> None:
    model = Counting()
    report = inspect(model)
    timing = report.variant("captured").timing
    assert timing is not None
    assert timing.recompiles == "self.calls"
    [cause] = timing.recompile_causes
    assert cause.text.startswith("self.calls: ")
    # The values of the inspected call, and of the one after it: not of calls to find out.
    assert (cause.was, cause.now) == ("0", "1")
    assert "calls" in cause.guard
    assert cause.where is not None
    assert "self.calls" in cause.where.code
    text = str(report)
    assert (
        "Every call recompiles, up to torch's limit: it changes self.calls, which a guard checks."
        in text
    )
    assert "is fastest" not in text
    assert "1. Change self.calls outside the compiled code, or keep it in a tensor" in text
    assert "Do not compile this call" not in text
    assert model.calls == 0
    # As many compilations as torch's limit allows.
    assert compilations_of(model) == 7


def test_all_values_that_guards_compare_are_to_be_changed_outside() -> None:
    report = inspect(CountingAndRecording())
    timing = report.variant("captured").timing
    assert timing is not None
    values = {timing.recompiles, *timing.other_recompiles}
    assert values == {"self.calls", "self.results"}
    text = " ".join(str(report).split())
    named = f"Change {timing.recompiles} and {timing.other_recompiles[0]} outside the compiled code"
    assert f"1. {named}, or keep them in tensors: avoids a recompile" in text
    # No call after the change was measured.
    assert "torch's limit (measured)" not in text
    # A change for one of them alone avoids nothing, for both all.
    assert compilations_of(CountingOutside(both=False)) == 7
    assert compilations_of(CountingOutside(both=True)) == 1


def test_a_list_that_grows_in_each_call_recompiles() -> None:
    report = inspect(Recording())
    timing = report.variant("captured").timing
    assert timing is not None
    assert timing.recompiles == "self.results"
    assert "it changes self.results, which a guard checks" in str(report)


def test_what_no_snapshot_has_recompiles_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPS_OF_A_TEST", "0")

    def step(x: torch.Tensor) -> torch.Tensor:
        steps = int(os.environ["STEPS_OF_A_TEST"]) + 1
        os.environ["STEPS_OF_A_TEST"] = str(steps)
        return x * steps

    report = inspect(step)
    timing = report.variant("captured").timing
    assert timing is not None
    assert "STEPS_OF_A_TEST" in timing.recompiles
    assert timing.changes == []
    assert "the latencies include recompiles and calls in eager" in " ".join(str(report).split())


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
    assert "it changes counter.calls, which a guard checks" in str(report)
    assert "1. Change counter.calls outside the compiled code" in str(report)


@pytest.mark.parametrize("model", [CountingInATensor(), Emptying()])
def test_others_are_not(model: nn.Module) -> None:
    report = inspect(model)
    timing = report.variant("captured").timing
    assert timing is not None
    assert (timing.recompiles, timing.first_recompiles) == ("", [])
    assert "0 recompiles" in str(report)
    assert compilations_of(model) == 1


@pytest.mark.parametrize(
    ("model", "values"),
    [(StartingOnce(), ["self.is_started"]), (Masking(), ["self.mask"])],
)
def test_the_second_call_may_recompile(model: nn.Module, values: list[str]) -> None:
    report = inspect(model)
    timing = report.variant("captured").timing
    assert timing is not None
    assert (timing.recompiles, timing.first_recompiles) == ("", values)
    assert "1 recompile in the second call" in str(report)
    assert compilations_of(model) == 2


def test_gradients_that_the_first_call_leaves_recompile_the_second() -> None:
    model = nn.Linear(3, 3)

    def step(x: torch.Tensor) -> None:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad = None
        model(x).sum().backward()

    report = inspect(step)
    timing = report.variant("captured").timing
    assert timing is not None
    assert (timing.recompiles, timing.first_recompiles) == ("", ["model.weight.grad"])
    assert model.weight.grad is None
    assert compilations_of(step) == 2


def test_an_optimizer_does_not_recompile() -> None:
    """Dynamo knows the state that its first step creates."""
    model = nn.Linear(3, 3)
    optimizer = torch.optim.Adam(model.parameters())

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

    report = inspect(step)
    timing = report.variant("captured").timing
    assert timing is not None
    assert (timing.recompiles, timing.first_recompiles) == ("", [])
    assert not optimizer.state


class Number:
    """A number that a function changes and is guarded on."""

    def __init__(self) -> None:
        self.k = 5


@pytest.mark.parametrize(
    ("dynamic", "always", "first", "compilations"),
    [(None, "", ["p.k"], 2), (True, "", [], 1), (False, "p.k", [], 7)],
)
def test_later_calls_recompile_as_the_guards_of_a_variant_are(
    dynamic: bool | None, always: str, first: list[str], compilations: int
) -> None:
    def counted(x: torch.Tensor, p: Number) -> torch.Tensor:
        p.k += 1
        return x * p.k

    number, x = Number(), torch.ones(3)
    variants = {"a": cs.Variant(backend="eager", dynamic=dynamic)}
    timing = cs.inspect(counted, (x, number), variants=variants, run=True).variant("a").timing
    assert timing is not None
    assert (timing.recompiles, timing.first_recompiles) == (always, first)
    assert number.k == 5
    torch._dynamo.reset()
    counter = torch._dynamo.testing.CompileCounter()
    compiled: Any = torch.compile(counted, backend=counter, dynamic=dynamic)
    for _ in range(7):
        compiled(x, number)
    assert counter.frame_count == compilations


def test_what_is_timed_is_what_was_built() -> None:
    """The repeated calls compile for themselves, and leave the build's code in place."""
    compiled: list[object] = []

    def count(graph: Any, inputs: object) -> Any:
        compiled.append(graph)
        return graph.forward

    def keeping(x: torch.Tensor, p: Number) -> torch.Tensor:
        p.last = x * 2  # type: ignore[attr-defined]
        return x * 3

    variants = {"a": cs.Variant(backend=count)}
    report = cs.inspect(keeping, (torch.ones(3), Number()), variants=variants, run=True)
    timing = report.variant("a").timing
    assert timing is not None
    assert timing.initial_state == "restored"
    assert len(compiled) == 1


def test_a_call_whose_own_guards_fail_afterwards_is_timed() -> None:
    def scaled(x: torch.Tensor) -> torch.Tensor:
        return x * time.perf_counter()

    variants = {"captured": cs.Variant(backend="eager")}
    report = cs.inspect(scaled, (torch.ones(3),), variants=variants, run=True)
    assert report.variant("captured").stage == "built"
    assert report.variant("captured").timing is not None
