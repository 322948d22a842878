"""Recompiles: another size, another number, another type."""

from typing import Any

import torch
from torch import Tensor


def f(x: Tensor, n: float) -> Tensor:
    return (x * n).relu().sum(0)


def run(options: dict[str, Any]) -> None:
    compiled = torch.compile(f, options=options)
    with torch.no_grad():
        compiled(torch.randn(4, 4), 2)
        compiled(torch.randn(5, 4), 2)
        compiled(torch.randn(5, 4), 2.5)
        compiled(torch.randn(6, 4, dtype=torch.float64), 3)
