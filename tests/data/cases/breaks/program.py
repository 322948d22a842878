"""Graph breaks: one asked for, one on data, one in a function that is called."""

from typing import Any

import torch
from torch import Tensor


def helper(x: Tensor) -> Tensor:
    print("in helper")
    return x.sin()


def f(x: Tensor) -> Tensor:
    y = x.cos() + 1
    torch._dynamo.graph_break()
    if y.sum() > 0:
        y = y * 2
    return helper(y) @ y.T


def run(options: dict[str, Any]) -> None:
    with torch.no_grad():
        torch.compile(f, options=options)(torch.randn(4, 4))
