"""Inference with two residual blocks: matrix products by a library, the rest fused."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.up(self.norm(x))
        return x + self.down(functional.gelu(hidden))


class Net(nn.Module):
    def __init__(self, width: int = 32, depth: int = 2) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(depth)])
        self.head = nn.Linear(width, 8)

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return self.head(x).softmax(-1)


def run(options: dict[str, Any]) -> None:
    with torch.no_grad():
        torch.compile(Net(), options=options)(torch.randn(4, 32))
