"""What a call changes, by where it is."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from compilescope.isolation.state_changes import changed_tensors, changes_of, summarize_changes
from compilescope.isolation.user_state import Snapshot, preserved
from torch import nn

total = 0


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.bn = nn.BatchNorm1d(4)
        self.register_buffer("mean", torch.zeros(4))
        self.steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mean = self.mean * 0.9 + x.mean(0).detach() * 0.1
        self.steps += 1
        return self.bn(self.fc(x))


def changes(fn: Callable[..., Any], *args: Any) -> list[str]:
    with preserved(fn, args) as snapshot:
        fn(*args)
        texts = changes_of(snapshot)
        snapshot.restore()
        assert changes_of(snapshot) == []
    return texts


def test_a_call_that_changes_nothing() -> None:
    net = Net().eval()
    assert changes(net.fc, torch.ones(2, 4)) == []
    assert changes(torch.relu, torch.ones(2)) == []


def test_buffers_and_attributes_of_a_module() -> None:
    assert sorted(changes(Net(), torch.randn(8, 4))) == [
        "Net.bn.num_batches_tracked",
        "Net.bn.running_mean",
        "Net.bn.running_var",
        "Net.mean",
        "Net.steps",
    ]


@pytest.mark.parametrize("warm", [False, True])
def test_a_training_step(warm: bool) -> None:
    net = nn.Linear(4, 2)
    opt = torch.optim.Adam(net.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> None:
        opt.zero_grad()
        net(x).square().mean().backward()
        opt.step()

    x = torch.randn(8, 4)
    if warm:
        step(x)
        step(x)
    result = set(changes(step, x))
    expected = {"net.weight", "net.bias", "net.weight.grad", "net.bias.grad"}
    if warm:
        expected |= {
            f"opt.state[net.{name}]['{moment}']"
            for name in ("weight", "bias")
            for moment in ("step", "exp_avg", "exp_avg_sq")
        }
    else:
        expected |= {"opt.state[net.weight]", "opt.state[net.bias]"}
    assert expected <= result
    # What is left is the optimizer's own book-keeping.
    assert all(path.startswith("opt.") for path in result - expected)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda x: x.add_(1), ["args[0]"]),
        (lambda x: x.data.add_(1), ["args[0]"]),
        (lambda x: x.numpy().fill(7), ["args[0]"]),
        (lambda x: x[0].zero_(), ["args[0]"]),
        (lambda x: x.t_(), ["args[0]"]),
        (lambda x: x.resize_(1), ["args[0]"]),
        (lambda x: setattr(x, "data", torch.ones(2)), ["args[0]"]),
        (lambda x: x.requires_grad_(), ["args[0]"]),
        (lambda x: setattr(x, "grad", torch.ones(2, 3)), ["args[0].grad"]),
        (lambda x: setattr(x, "note", "mine"), ["args[0].note"]),
        (lambda x: x.add_(0), []),
        (lambda x: x + torch.nan, []),
        (lambda x: torch.rand(1), ["random numbers"]),
        (lambda x: random.random(), ["random numbers"]),
        (lambda x: np.random.rand(), ["random numbers"]),
        (lambda x: torch.set_grad_enabled(False), ["torch's modes"]),
    ],
)
def test_one_change(change: Callable[[torch.Tensor], object], expected: list[str]) -> None:
    assert changes(change, torch.arange(1, 7.0).reshape(2, 3).clone()) == expected


def test_not_a_number_is_no_change() -> None:
    x = torch.tensor([torch.nan, 1.0])
    views = [x[:1], x[1:]]
    assert changes(lambda values: values[1].zero_(), views) == ["args[0][1]"]


def test_containers_globals_closures_and_generators() -> None:
    seen: list[int] = []
    cache: dict[str, int] = {"a": 1, "b": 2}
    own, numpy_own, array = torch.Generator(), np.random.default_rng(3), np.zeros(3)
    count = 0

    def call() -> None:
        global total
        nonlocal count
        total += 1
        count += 1
        seen.append(1)
        cache["a"] = 5
        del cache["b"]
        torch.rand(1, generator=own)
        numpy_own.random()
        array[1] = 2
        call.runs = 1  # type: ignore[attr-defined]

    assert sorted(changes(call)) == [
        "array",
        "cache['a']",
        "cache['b']",
        "call.runs",
        "count",
        "numpy_own",
        "own",
        "seen",
        "total",
    ]


def test_the_tensors_that_were_changed() -> None:
    net = nn.Linear(2, 2, bias=False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    bn = nn.BatchNorm1d(2)
    x = torch.arange(6.0).reshape(3, 2)

    def step(x: torch.Tensor) -> None:
        x += 1
        net(bn(x)).square().sum().backward()
        opt.step()

    with preserved(step, (x,)) as snapshot:
        step(x)
        result = changed_tensors(snapshot)
        assert result["args[0]"] is x
        assert result["bn.num_batches_tracked"].item() == 1
        assert result["opt.state[net.weight]['momentum_buffer']"].shape == (2, 2)
        assert result["net.weight"] is net.weight
        assert "bn.weight" not in result


def test_long_lists_are_cut() -> None:
    paths = [f"w{number}" for number in range(1300)]
    assert summarize_changes(paths)[-1] == "and 1,280 more"
    assert summarize_changes(paths[:5]) == paths[:5]


def test_asking_is_about_as_cheap_as_restoring() -> None:
    net = nn.Sequential(*[nn.Linear(64, 64) for _ in range(300)])
    snapshot = Snapshot(net, (torch.ones(1, 64),))

    def best(action: Callable[[], object]) -> float:
        times = []
        for _ in range(5):
            start = time.thread_time()  # its own: others may be busy
            action()
            times.append(time.thread_time() - start)
        return min(times)

    assert best(functools.partial(changes_of, snapshot)) < 5 * best(snapshot.restore)
