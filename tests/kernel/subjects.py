"""Calls to inspect: one of every kind that a notebook may hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from IPython.core.compilerop import CachingCompiler
from torch import nn


class Call(NamedTuple):
    fn: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] | None = None


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(8, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.inner(x).relu())


class Scaler:
    def __init__(self) -> None:
        self.weight = torch.randn(8, 8)

    def scale(self, x: torch.Tensor, *, by: float = 2.0) -> dict[str, torch.Tensor]:
        return {"scaled": x @ self.weight * by, "total": x.sum()}

    __call__ = scale


class Tagged(torch.Tensor):
    """A subclass that adds nothing."""


def plain(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() + 1).sum(1)


def two(x: torch.Tensor, *, shift: float) -> tuple[torch.Tensor, list[torch.Tensor]]:
    y = x + shift
    return y, [y.cos(), x.sum()]


def closure() -> Call:
    weight = torch.randn(8, 3)
    return Call(lambda x: x @ weight, (torch.randn(4, 8),))


def module() -> Call:
    return Call(Net(), (torch.randn(4, 8),))


def frozen() -> Call:
    return Call(Net().eval().requires_grad_(False), (torch.randn(4, 8),))


def training() -> Call:
    net = Net()

    def step(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.mse_loss(net(x), y)

    return Call(step, (torch.randn(4, 8), torch.randn(4, 4)))


def product() -> Call:
    """The smallest step of a training: its C++ is compiled once for all who build it."""
    x = torch.randn(4, 8, requires_grad=True)
    weight = torch.randn(8, 8, requires_grad=True)

    def step(x: torch.Tensor) -> torch.Tensor:
        return (x @ weight).sin()

    return Call(step, (x,))


def method() -> Call:
    return Call(Scaler().scale, (torch.randn(4, 8),), {"by": 3.0})


def callable_object() -> Call:
    return Call(Scaler(), (torch.randn(4, 8),))


def compiled() -> Call:
    return Call(torch.compile(plain), (torch.randn(4, 8),))


def compiled_module() -> Call:
    return Call(torch.compile(Net()), (torch.randn(4, 8),))


def compiled_in_place() -> Call:
    net = Net()
    net.compile()
    return Call(net, (torch.randn(4, 8),))


CELL = """\
import torch
def double(x):
    y = x * 2
    return y.relu()
"""


def from_cell() -> Call:
    """A function as IPython defines it: its source is in the line cache only."""
    name = CachingCompiler().cache(CELL, 7)
    namespace: dict[str, Any] = {}
    exec(compile(CELL, name, "exec"), namespace)
    return Call(namespace["double"], (torch.randn(4, 8),))


def shout(x: torch.Tensor) -> torch.Tensor:
    print("heard")
    return x.sin()


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x.cos() + 1
    torch._dynamo.graph_break()
    if y.sum() > 0:
        y = y * 2
    return shout(y) - 1


def once_broken(x: torch.Tensor) -> torch.Tensor:
    # Three graphs of the same source: it is compiled once.
    return shout(x.sin()).sin()
