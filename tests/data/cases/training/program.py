"""A training step: forward, loss and, compiled when it first runs, backward."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.up = nn.Linear(16, 64)
        self.head = nn.Linear(64, 8)

    def forward(self, x: Tensor) -> Tensor:
        hidden = functional.silu(self.up(self.norm(x)))
        return self.head(functional.dropout(hidden, 0.1, self.training))


def run(options: dict[str, Any]) -> None:
    net = Net()

    def loss(x: Tensor, y: Tensor) -> Tensor:
        return functional.cross_entropy(net(x), y)

    torch.compile(loss, options=options)(torch.randn(4, 16), torch.randint(0, 8, (4,))).backward()
