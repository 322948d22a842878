"""A module and a step of training, whose state is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    count = 0

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.drop = nn.Dropout(0.5)
        self.steps = 0
        self.seen: list[int] = []
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        self.seen.append(self.steps)
        type(self).count += 1
        self.mean = self.mean * 0.9 + x.mean(0).detach() * 0.1
        return self.drop(self.norm(self.fc(x)))


def bits(module: nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in module.state_dict().items()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


def training_step(optimizer: Callable[..., torch.optim.Optimizer]) -> tuple[Any, ...]:
    net = Net()
    optim = optimizer(net.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optim, 1, gamma=0.5)

    def step(x: torch.Tensor) -> torch.Tensor:
        optim.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optim.step()
        schedule.step()
        return loss.detach()

    return net, optim, schedule, step
