"""The examples on which links between graphs, kernels and lines are counted.

Each line of user code that computes something stands alone, so that a kernel's line can be known by
hand: `Example.lines` says, for an operator of the graph, which lines it may come from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class Example:
    make: Callable[[], tuple[Callable[..., Any], tuple[Any, ...]]]
    """Gives the call."""
    lines: dict[str, tuple[str, ...]]
    """Operator of a post-grad node → what the lines that it may come from contain."""


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(16, 32), nn.LayerNorm(32), nn.Linear(32, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.up(x)
        hidden = functional.gelu(hidden)
        hidden = self.norm(hidden)
        return self.down(hidden)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        y = self.norm(y)
        y = functional.relu(y)
        y = self.second(y)
        return functional.silu(x + y)


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = nn.LayerNorm(16), nn.LayerNorm(16)
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlp = Mlp()
        self.mlp.down = nn.Linear(32, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normal = self.before(x)
        split = self.qkv(normal).unflatten(-1, (3, 4, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*split)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.mlp(self.after(x))


@torch.library.custom_op("compilescope_tests::scale", mutates_args=())
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    return x * by


@scale.register_fake
def _(x: torch.Tensor, by: float) -> torch.Tensor:
    return torch.empty_like(x)


def custom(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    y = torch.ops.compilescope_tests.scale(y, 2.0)
    return y.cos()


def gathered(
    table: torch.Tensor, index: torch.Tensor, rows: torch.Tensor, where: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    case = functional.embedding(index, table)
    pooled = case.mean(1)
    spread = torch.zeros(8, 16).scatter_add(0, where, rows)
    return pooled.tanh(), spread.exp()


def in_place(x: torch.Tensor, total: torch.Tensor) -> torch.Tensor:
    total.add_(x)
    x.mul_(2)
    return total.sigmoid()


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    torch._dynamo.graph_break()
    z = y.cos()
    if z.sum() > 0:
        z = z.exp()
    return z.tanh()


def _inference(model: nn.Module, *shape: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    return model.eval().requires_grad_(False), (torch.randn(*shape),)


def _training(model: nn.Module, *shape: int) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    def loss(x: torch.Tensor) -> torch.Tensor:
        return model(x).square().mean()

    return loss, (torch.randn(*shape),)


_MLP = {
    "addmm": ("self.up(x)", "self.down(hidden)", "self.qkv(", "self.out("),
    "erf": ("functional.gelu(hidden)",),
    "rsqrt": ("self.norm(hidden)", "self.before(x)", "self.after(x)"),
}
_ATTENTION = "_scaled_dot_product_flash_attention_for_cpu"

EXAMPLES = {
    "inference": Example(lambda: _inference(Mlp(), 4, 16), _MLP),
    "training": Example(
        lambda: _training(Mlp(), 4, 16),
        {
            **_MLP,
            "mm": ("self.up(x)", "self.down(hidden)"),
            "exp": ("functional.gelu(hidden)",),
            "pow": ("model(x).square()",),
        },
    ),
    "breaks": Example(
        lambda: (broken, (torch.ones(4, 8),)),
        {"sin": ("x.sin()",), "cos": ("y.cos()",), "exp": ("z.exp()",), "tanh": ("z.tanh()",)},
    ),
    "residual": Example(
        lambda: _inference(Residual(), 2, 4, 8, 8),
        {
            "convolution": ("self.first(x)", "self.second(y)"),
            "relu": ("functional.relu(y)",),
            "neg": ("functional.silu(x + y)",),
        },
    ),
    "residual training": Example(
        lambda: _training(Residual(), 2, 4, 8, 8),
        {
            "convolution": ("self.first(x)", "self.second(y)"),
            "convolution_backward": ("self.first(x)", "self.second(y)"),
            "relu": ("functional.relu(y)",),
        },
    ),
    "transformer": Example(
        lambda: _inference(Transformer(), 2, 8, 16),
        {**_MLP, _ATTENTION: ("functional.scaled_dot_product_attention",)},
    ),
    "transformer training": Example(
        lambda: _training(Transformer(), 2, 8, 16),
        {
            **_MLP,
            _ATTENTION: ("functional.scaled_dot_product_attention",),
            f"{_ATTENTION}_backward": ("functional.scaled_dot_product_attention",),
        },
    ),
    "embedding and scatter": Example(
        lambda: (
            gathered,
            (
                torch.randn(32, 16),
                torch.randint(0, 32, (4, 6)),
                torch.randn(5, 16),
                torch.randint(0, 8, (5, 16)),
            ),
        ),
        {
            "embedding": ("functional.embedding",),
            "tanh": ("pooled.tanh()",),
            "exp": ("spread.exp()",),
        },
    ),
    "custom operator": Example(
        lambda: (custom, (torch.randn(4, 8),)),
        {"sin": ("x.sin()",), "scale": ("compilescope_tests.scale",), "cos": ("y.cos()",)},
    ),
    "in place": Example(
        lambda: (in_place, (torch.randn(4, 8), torch.randn(4, 8))),
        {"add": ("total.add_(x)",), "mul": ("x.mul_(2)",), "sigmoid": ("total.sigmoid()",)},
    ),
}
