"""What is compiled for a target and checked: small, and of every kind of kernel."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import flex_attention

Tensor = torch.Tensor


def reduced(x: Tensor, long: Tensor) -> tuple[Tensor, ...]:
    return (
        torch.softmax(x, 1),
        *torch.var_mean(long, 1),
        long.sin().sum(),
        x.argmax(1),
        x.prod(0),
        x.any(1),
    )


def scanned(x: Tensor) -> tuple[Tensor, ...]:
    return (*torch.sort(x, 1), torch.cumsum(x, 1), *torch.cummax(x, 1), torch.logcumsumexp(x, 1))


def functions(x: Tensor) -> Tensor:
    y = torch.erfinv(x.sigmoid()) + torch.lgamma(x.abs() + 1) + torch.atan2(x, x + 1)
    y = y + torch.expm1(x) + x.abs().pow(2.5) + torch.floor(x * 3) + torch.round(x * 2)
    y = y + torch.fmod(x, 0.7) + torch.remainder(x, 0.6) + torch.nextafter(x, x + 1)
    y = y + torch.hypot(x, x) + torch.isnan(x) + torch.signbit(x) + torch.special.i0(x)
    return y + torch.atan(x)


def narrow(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    return (x * y + 1).tanh() / (y.abs() + 1), x.float().to(torch.float8_e4m3fn)


def whole(x: Tensor, y: Tensor) -> Tensor:
    return x // (y.abs() + 1) + x % 7 - (x << 1) + (x >> 1)


def indexed(w: Tensor, i: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    return (
        F.embedding(i, w).relu(),
        w.index_put((i,), v, accumulate=True),
        torch.zeros_like(w).index_add(0, i, v),
        w[i + 1].relu(),
    )


def from_the_end(x: Tensor, i: Tensor) -> Tensor:
    return x[i] * 2


def drawn(x: Tensor) -> tuple[Tensor, ...]:
    drawn = torch.randn_like(x) + torch.randint_like(x, 0, 10)
    return F.dropout(x, 0.3, True), drawn, F.dropout(x, 0.5, True).sum(1)


def trained(x: Tensor, w: Tensor) -> Tensor:
    return F.gelu(F.layer_norm(x, (64,)) @ w).sum()


def unread(x: Tensor, w: Tensor, v: Tensor, b: Tensor) -> Tensor:
    """A kernel takes over the second product's memory, reads it, and stores nothing there."""
    x = x + F.linear(x, w, b)
    return (x + F.dropout(F.linear(F.gelu(x), v, b), 0.1, True)).square().mean()


def any_size(x: Tensor) -> Tensor:
    return F.layer_norm(x, (x.shape[1],)).sum(0)


def step(p: Tensor, g: Tensor, m: Tensor) -> Tensor:
    m.mul_(0.9).add_(g)
    p.sub_(m * 0.1)
    return p.sum()


def convolved(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return F.relu(F.conv2d(x, w, b))


def product(a: Tensor, b: Tensor) -> Tensor:
    return (a @ b).relu()


def flexible(q: Tensor, k: Tensor, v: Tensor) -> Any:
    def nearer(score: Tensor, b: Tensor, h: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return score + (i - j) * 0.1

    return flex_attention(q, k, v, score_mod=nearer)


def attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q * 2, k, v).relu()


def logarithm(x: Tensor) -> Tensor:
    return x.log().sum(1)


def scaled(x: Tensor) -> Tensor:
    return x.sin() * 2


def summed(x: Tensor) -> Tensor:
    return x.sin().sum()
