"""The models that the benchmarks inspect and compile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

Subject = tuple[Callable[..., Any], tuple[Any, ...]]


def mlp() -> Subject:
    """A multilayer perceptron in inference: three linear layers."""
    model = nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10)
    )
    return model.eval().requires_grad_(False), (torch.randn(16, 64),)


def transformer() -> Subject:
    """Twelve narrow transformer layers in inference."""
    model = nn.Sequential(*[_Layer(64, 4) for _ in range(12)])
    return model.eval().requires_grad_(False), (torch.randn(2, 16, 64),)


def training() -> Subject:
    """The loss of a small classifier: its gradients make a backward graph too."""
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10))
    inputs, targets = torch.randn(16, 64), torch.randint(10, (16,))

    def loss(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(model(inputs), targets)

    return loss, (inputs, targets)


def tiny() -> Subject:
    """Nearly nothing: loads what a first compilation in a process loads."""
    weight = torch.randn(4, 4, requires_grad=True)
    return (lambda x: (x @ weight).relu().sum()), (torch.randn(4, 4),)


SUBJECTS: dict[str, Callable[[], Subject]] = {
    "mlp": mlp,
    "transformer": transformer,
    "training": training,
}


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        split = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(*split)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))
