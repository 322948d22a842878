"""What the tests of Inductor's plans inspect."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional


def chain(x: torch.Tensor) -> torch.Tensor:
    """Products with something between them: each buffer can take over the memory of the last."""
    a = x.sin() @ x
    b = a.cos() @ x
    c = b.relu() @ x
    return c.tanh() + 1


def normed(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Everything but the product becomes one kernel."""
    y = functional.layer_norm(x @ w, (x.shape[-1],))
    z = functional.gelu(y) * torch.sigmoid(x)
    return torch.softmax(z, -1), z.sum(0)


def looped(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A loop that carries a tensor: a round makes the next one beside it."""

    def again(count: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        return count < 3

    def once(count: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return count + 1, (value @ value).sin() + 1

    result: tuple[torch.Tensor, torch.Tensor] = torch.while_loop(
        again, once, (torch.tensor(0), x.cos())
    )
    return result


class Convolved(nn.Module):
    """A convolution that Inductor wants in another layout."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.conv(x)).mean((2, 3))


class Trained(nn.Module):
    """Two layers with something between them."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(64, 128), nn.Linear(128, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(functional.gelu(self.up(x))).square().mean()
