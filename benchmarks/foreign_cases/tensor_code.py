"""What is done with tensors: autograd, mutation, views, types, random numbers, mathematics."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from .cases import call, calls

# Autograd


class Cubed(torch.autograd.Function):
    """With a backward of its own."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """The cube."""
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        """Its derivative, cut off."""
        (x,) = ctx.saved_tensors
        return (grads[0] * 3 * x * x).clamp(-1, 1)


def own_backward(x: Tensor) -> Tensor:
    return Cubed.apply(x).sum()


def detached(x: Tensor) -> Tensor:
    return (x * x.detach().softmax(-1)).sum()


def no_grad_inside(x: Tensor) -> Tensor:
    with torch.no_grad():
        scale = x.norm()
    return (x / scale).square().sum()


def checkpointed(x: Tensor) -> Tensor:
    from torch.utils.checkpoint import checkpoint

    tensor: Tensor = checkpoint(lambda t: t.sin().exp(), x, use_reentrant=False)
    return tensor.sum()


def several_outputs(x: Tensor) -> tuple[Tensor, Tensor]:
    return x.cumsum(0), x.logsumexp(-1)


def backward_inside(x: Tensor) -> Tensor:
    y = (x * 2).tanh().sum()
    y.backward()
    return y


calls((own_backward, detached, no_grad_inside, checkpointed, several_outputs), (8, 16), grad=True)
call(backward_inside, (8, 4), grad=True)

# Mutation and views


def in_place(x: Tensor) -> Tensor:
    y = x.clone()
    y.add_(1).mul_(2)
    y[0] = 0
    y[:, 1::2] -= 3
    return y


def writes_input(x: Tensor) -> Tensor:
    x.clamp_(min=0)
    return x.sum()


def slices(x: Tensor) -> Tensor:
    return x[1:, ::2] + x[:-1, 1::2]


def views(x: Tensor) -> Tensor:
    return x.view(2, -1).t().unsqueeze(0).expand(3, -1, -1)


def strided(x: Tensor) -> Tensor:
    return x.as_strided((4, 4), (1, 4)) * 2


def windows(x: Tensor) -> Tensor:
    return x.unfold(0, 3, 1).mean(-1)


def rolled(x: Tensor) -> Tensor:
    return torch.roll(x, 2, 1).flip(0) + torch.rot90(x, 2)


def masked(x: Tensor) -> Tensor:
    return x.masked_fill(x > 0.5, -1).where(x < 0, x * x)


def picked(x: Tensor) -> Tensor:
    order = torch.tensor([3, 1, 0])
    return x[order] + x.index_select(0, order)


def put(x: Tensor) -> Tensor:
    return torch.zeros_like(x).index_put_((torch.tensor([0, 2]),), x[:2], accumulate=True)


def scattered(x: Tensor) -> Tensor:
    return torch.zeros_like(x).scatter_add(0, torch.zeros(x.shape, dtype=torch.long), x)


def triangles(x: Tensor) -> Tensor:
    return x.tril() @ x.triu(1)


calls((in_place, writes_input, slices, views, strided, windows, rolled, masked, picked), (4, 6))
call(put, (4, 6))
call(scattered, (4, 6))
call(triangles, (6, 6))

# Types, random numbers, mathematics


def mixed(x: Tensor) -> Tensor:
    return (x.half() * x.double()).to(torch.bfloat16) + 1


def to_integers(x: Tensor) -> Tensor:
    whole = (x * 10).to(torch.int32)
    return (whole // 3) % 5 + (whole >> 1)


def booleans(x: Tensor) -> Tensor:
    return ((x > 0) & ~(x > 1)) | (x < -1)


def complexes(x: Tensor) -> Tensor:
    return torch.fft.rfft(x).abs()


def autocasts(x: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return x @ x.t()


def random_added(x: Tensor) -> Tensor:
    return x + torch.rand_like(x) + torch.randn(x.shape)


def dropped(x: Tensor) -> Tensor:
    return functional.dropout(x, 0.3, training=True)


def statistics(x: Tensor) -> tuple[Tensor, ...]:
    return x.mean(), x.std(), x.var(0), x.median(), x.amax(-1)


def equations(x: Tensor) -> Tensor:
    return torch.einsum("ij,kj->ik", x, x) / math.sqrt(x.shape[-1])


def special(x: Tensor) -> Tensor:
    return torch.special.erfinv(x.tanh()) + torch.digamma(x.abs() + 1)


def sorts(x: Tensor) -> tuple[Tensor, Tensor]:
    values, order = x.sort(-1, descending=True)
    return values.diff(), order


def scalars(x: Tensor) -> Tensor:
    return x * math.pi + float(x.shape[0]) ** 0.5


def softmaxes(x: Tensor) -> Tensor:
    return functional.log_softmax(x, 0) + functional.gelu(x, approximate="tanh")


calls(
    (
        mixed,
        to_integers,
        booleans,
        complexes,
        autocasts,
        random_added,
        dropped,
        statistics,
        equations,
        special,
        sorts,
        scalars,
        softmaxes,
    ),
    (6, 10),
)

# Views of several, and what is left


def pairwise(x: Tensor) -> Tensor:
    return torch.cdist(x, x) + (x[:, None] - x[None]).abs().sum(-1)


def kept_shapes(x: Tensor) -> tuple[Tensor, int, list[int]]:
    return x.flatten(), x.numel(), list(x.shape)


def nothing_to_do(x: Tensor) -> Tensor:
    return x


def constants(x: Tensor) -> Tensor:
    return x + torch.arange(x.shape[-1]) * torch.full((1,), 2.0) + torch.eye(6, 10)


def padded(x: Tensor) -> Tensor:
    return functional.pad(x, (1, 2), value=3.0).repeat(2, 1)


def split_and_joined(x: Tensor) -> Tensor:
    a, b, c = x.split([2, 3, 5], -1)
    return torch.cat([c, a, b], -1).chunk(2, -1)[0]


def same_twice(x: Tensor) -> Tensor:
    return (x.exp() + 1) * (x.exp() + 1)


def reduced_in_turn(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)).square().sum(0).amax()


def printed(x: Tensor) -> Tensor:
    y = x.sin()
    print(end="")
    return y.cos()


calls(
    (
        pairwise,
        kept_shapes,
        nothing_to_do,
        constants,
        padded,
        split_and_joined,
        same_twice,
        reduced_in_turn,
        printed,
    ),
    (6, 10),
)
