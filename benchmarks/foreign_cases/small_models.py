"""Small modules in inference and training, losses, and a step of an optimizer."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from .cases import Made, case, module

# Models


class Gated(nn.Module):
    """SwiGLU."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.gate, self.down = (nn.Linear(16, 16, bias=False) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        tensor: Tensor = self.down(functional.silu(self.gate(x)) * self.up(x))
        return tensor


class Attention(nn.Module):
    """Causal, with rotated queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        q, k, v = self.qkv(x).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
        angle = torch.arange(x.shape[1])[:, None] / 10 ** torch.linspace(0, 1, 4)
        q, k = (self._turned(part, angle) for part in (q, k))
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        tensor: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return tensor

    @staticmethod
    def _turned(x: Tensor, angle: Tensor) -> Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


class Stateful(nn.Module):
    """Counts its calls in a buffer."""

    calls: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        self.calls += 1
        return x * self.calls


class Cell(nn.Module):
    """A recurrent cell, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(8, 12)

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        state = x.new_zeros(x.shape[1], 12)
        for step in x.unbind(0):
            state = self.cell(step, state)
        return state


class Experts(nn.Module):
    """Each of two experts, weighted."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(16, 2)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """Runs it."""
        weights = self.router(x).softmax(-1)
        outputs = torch.stack([expert(x) for expert in self.experts], -1)
        return (outputs * weights.unsqueeze(-2)).sum(-1)


def _convolutions() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    )


module("gated", Gated, (2, 16))
module("attention", Attention, (2, 6, 16))
module("stateful", Stateful, (3, 3))
module("recurrent_cell", Cell, (3, 2, 8))
module("experts", Experts, (4, 16))
module("convolutions", _convolutions, (2, 3, 10, 10))
module("depthwise", lambda: nn.Conv1d(4, 4, 3, groups=4, padding=1), (2, 4, 9))
module("transposed", lambda: nn.ConvTranspose2d(4, 2, 2, stride=2), (1, 4, 5, 5))
module("group_normed", lambda: nn.Sequential(nn.GroupNorm(2, 8), nn.SiLU()), (2, 8, 5))
module("layer_normed", lambda: nn.Sequential(nn.LayerNorm(12), nn.Linear(12, 3)), (5, 12))
module("encoder", lambda: nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (2, 5, 16))
module("bilinear", lambda: nn.Bilinear(4, 5, 3), (6, 4), (6, 5))
module("upsampled", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (1, 2, 4, 4))


@case
def embedding() -> Made:
    table = nn.EmbeddingBag(20, 8, mode="mean").requires_grad_(False)
    return table, (torch.randint(20, (4, 3)),)


@case
def losses() -> Made:
    return functional.cross_entropy, (torch.randn(8, 5, requires_grad=True), torch.arange(8) % 5)


@case
def step_of_sgd() -> Made:
    model = nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)

    def step(x: Tensor) -> Tensor:
        optimizer.zero_grad()
        loss: Tensor = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, (torch.randn(4, 8),)
