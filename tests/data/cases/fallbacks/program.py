"""Operators without generated kernels: libraries, a custom operator, a branch with its own graphs."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


@torch.library.custom_op("demo::scale", mutates_args=())
def scale(x: Tensor, factor: float, label: str) -> Tensor:
    return x * factor


@scale.register_fake
def _(x: Tensor, factor: float, label: str) -> Tensor:
    return torch.empty_like(x)


def f(x: Tensor, w: Tensor) -> tuple[Tensor, ...]:
    q = torch.linalg.qr(x)[0]
    values, order = torch.sort(x @ w)
    scaled = scale(values.relu(), 2.0, "twice")
    branch = torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos() @ a, (scaled,))
    batch = x[None, None]
    attention = functional.scaled_dot_product_attention(batch, batch, batch)
    noise = torch.rand_like(x)
    return q + scaled, branch, order, attention.sum() + noise, torch.cumsum(x, 0)


def run(options: dict[str, Any]) -> None:
    with torch.no_grad():
        torch.compile(f, options=options)(torch.randn(8, 8), torch.randn(8, 8))
