"""Calls whose backward is called in every way, and graphs of several kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

Call = tuple[Callable[..., Any], tuple[Any, ...]]


def _trained(*, call: Callable[[torch.Tensor, torch.Tensor], Any]) -> Call:
    weight = torch.randn(8, 8, requires_grad=True)

    def step(x: torch.Tensor) -> Any:
        return call((x @ weight).tanh().sum(), weight)

    return step, (torch.randn(4, 8),)


def plain_backward() -> Call:
    return _trained(call=lambda y, _: y.backward())


def retain_graph() -> Call:
    return _trained(call=lambda y, _: y.backward(retain_graph=True))


def create_graph() -> Call:
    def call(y: torch.Tensor, weight: torch.Tensor) -> Any:
        torch._dynamo.graph_break()
        return torch.autograd.grad(y, weight, create_graph=True)[0].detach()

    return _trained(call=call)


def retained_outside() -> Call:
    def call(y: torch.Tensor, weight: torch.Tensor) -> Any:
        torch._dynamo.graph_break()
        y.backward(retain_graph=True)
        y.backward()
        return y.detach()

    return _trained(call=call)


def plain_before_retained() -> Call:
    weight = torch.randn(8, 8, requires_grad=True)

    def inner(x: torch.Tensor) -> torch.Tensor:
        return (x @ weight).tanh().sum()

    def step(x: torch.Tensor) -> Any:
        first = inner(x)
        torch._dynamo.graph_break()
        first.backward()
        second = inner(x)
        torch._dynamo.graph_break()
        second.backward(retain_graph=True)
        return second.detach()

    return step, (torch.randn(4, 8),)


def returned() -> Call:
    weight = torch.randn(8, 8, requires_grad=True)
    return lambda x: (x @ weight).tanh(), (torch.randn(4, 8),)


def broken() -> Call:
    def step(x: torch.Tensor) -> Any:
        y = x.sin()
        torch._dynamo.graph_break()
        return y.cos().sum()

    return step, (torch.randn(4, 8),)


CHEAP = {
    subject.__name__: subject
    for subject in (
        plain_backward,
        retain_graph,
        create_graph,
        retained_outside,
        plain_before_retained,
        returned,
        broken,
    )
}
