"""Calls on a given device, of every kind that Inductor has its own way with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from compilescope.report.variant import Variant
from torch import nn
from torch.nn import functional

Tensor = torch.Tensor
HALF, BRAIN = torch.float16, torch.bfloat16


class Case(NamedTuple):
    """A call, and what it is compiled with."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    variant: Variant = Variant()


class Make:
    """Makes tensors and modules on a device."""

    def __init__(self, device: str) -> None:
        self.device = device

    def floats(self, *shape: int, dtype: torch.dtype = torch.float32, grad: bool = False) -> Tensor:
        tensor = torch.randn(*shape, device=self.device).to(dtype)
        return tensor.requires_grad_(grad)

    def integers(self, *shape: int, below: int) -> Tensor:
        return torch.randint(below, shape, device=self.device)

    def frozen(self, module: nn.Module, dtype: torch.dtype = torch.float32) -> nn.Module:
        return module.to(self.device, dtype).eval().requires_grad_(False)

    def trained(self, module: nn.Module) -> nn.Module:
        return module.to(self.device).train()


class Block(nn.Module):
    """A transformer's block."""

    def __init__(self, width: int = 256, heads: int = 4, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        split = self.qkv(self.norm(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(*split, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        hidden = functional.gelu(self.up(self.norm2(x)))
        return x + functional.dropout(self.down(hidden), self.dropout, self.training)


class Residual(nn.Module):
    """A ResNet's block."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.one = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.two = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)

    def forward(self, x: Tensor) -> Tensor:
        inner = self.norm2(self.two(self.norm(self.one(x)).relu()))
        return (inner + x).relu()


class Root(nn.Module):
    """Root mean square norm, as Llama has it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        return self.weight * (wide * wide.pow(2).mean(-1, keepdim=True).add(1e-6).rsqrt()).to(x)


def pointwise(make: Make) -> Case:
    return Case(lambda x, y: (x + y).relu() * 2, (make.floats(128, 128), make.floats(128, 128)))


def broadcast(make: Make) -> Case:
    args = make.floats(64, 1, 33, dtype=HALF), make.floats(7, 1, dtype=HALF)
    return Case(lambda x, y: torch.sigmoid(x) * y.tanh(), args)


def softmax(make: Make) -> Case:
    return Case(lambda x: x.softmax(-1), (make.floats(64, 4096),))


def cross_entropy(make: Make) -> Case:
    return Case(functional.cross_entropy, (make.floats(64, 1000), make.integers(64, below=1000)))


def reduction(make: Make) -> Case:
    return Case(lambda x: (x * x).sum(0), (make.floats(100_000, 32),))


def whole_reduction(make: Make) -> Case:
    return Case(lambda x: x.double().mean(), (make.floats(1000, 1000),))


def argmax(make: Make) -> Case:
    return Case(lambda x: (x.argmax(-1), x.amax(-1)), (make.floats(64, 5000),))


def layer_norm(make: Make) -> Case:
    return Case(make.frozen(nn.LayerNorm(1024), BRAIN), (make.floats(512, 1024, dtype=BRAIN),))


def rms_norm(make: Make) -> Case:
    return Case(make.frozen(Root(2048), HALF), (make.floats(64, 2048, dtype=HALF),))


def group_norm(make: Make) -> Case:
    return Case(make.frozen(nn.GroupNorm(8, 64)), (make.floats(4, 64, 16, 16),))


def batch_norm(make: Make) -> Case:
    return Case(make.trained(nn.BatchNorm2d(32)), (make.floats(8, 32, 16, 16),))


def product(make: Make) -> Case:
    return Case(torch.mm, (make.floats(512, 256, dtype=HALF), make.floats(256, 128, dtype=HALF)))


def odd_product(make: Make) -> Case:
    return Case(torch.mm, (make.floats(513, 255, dtype=HALF), make.floats(255, 129, dtype=HALF)))


def epilogue(make: Make) -> Case:
    model = make.frozen(nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 64)), BRAIN)
    return Case(model, (make.floats(128, 256, dtype=BRAIN),))


def norm_gelu_product(make: Make) -> Case:
    def run(x: Tensor, w: Tensor) -> Tensor:
        return functional.gelu(functional.layer_norm(x, (1024,))) @ w

    return Case(run, (make.floats(512, 1024), make.floats(1024, 256)))


def batched_product(make: Make) -> Case:
    args = make.floats(8, 64, 32, dtype=HALF), make.floats(8, 32, 48, dtype=HALF)
    return Case(lambda x, y: torch.bmm(x, y).relu(), args)


def convolution(make: Make) -> Case:
    def run(x: Tensor, w: Tensor) -> Tensor:
        return functional.conv2d(x, w, padding=1).relu()

    return Case(run, (make.floats(2, 16, 32, 32), make.floats(8, 16, 3, 3)))


def residual(make: Make) -> Case:
    return Case(make.frozen(Residual(), HALF), (make.floats(2, 32, 28, 28, dtype=HALF),))


def pooling(make: Make) -> Case:
    return Case(lambda x: functional.max_pool2d(x, 3, 2, 1), (make.floats(4, 16, 56, 56),))


def attention(make: Make) -> Case:
    args = tuple(make.floats(2, 4, 64, 32, dtype=HALF) for _ in range(3))
    return Case(functional.scaled_dot_product_attention, args)


def attention_float32(make: Make) -> Case:
    args = tuple(make.floats(2, 4, 64, 32) for _ in range(3))
    return Case(functional.scaled_dot_product_attention, args)


def masked_attention(make: Make) -> Case:
    args = tuple(make.floats(2, 4, 64, 64, dtype=BRAIN) for _ in range(4))
    return Case(functional.scaled_dot_product_attention, args)


def flex_attention(make: Make) -> Case:
    from torch.nn.attention.flex_attention import flex_attention as flex

    def run(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return flex(query, key, value, score_mod=lambda score, b, h, q, k: score + (q - k))

    return Case(run, tuple(make.floats(1, 4, 256, 64, dtype=HALF) for _ in range(3)))


def embedding(make: Make) -> Case:
    args = make.integers(8, 32, below=1000), make.floats(1000, 64)
    return Case(lambda ids, table: functional.embedding(ids, table) * 8.0, args)


def gather(make: Make) -> Case:
    args = make.floats(64, 128), make.integers(64, 16, below=128)
    return Case(lambda x, where: x.gather(1, where).exp(), args)


def scatter(make: Make) -> Case:
    def run(x: Tensor, where: Tensor) -> Tensor:
        return torch.zeros(100, 32, device=x.device).index_add(0, where, x)

    return Case(run, (make.floats(500, 32), make.integers(500, below=100)))


def sort(make: Make) -> Case:
    return Case(lambda x: x.sort(-1), (make.floats(32, 128),))


def topk(make: Make) -> Case:
    return Case(lambda x: x.topk(8), (make.floats(32, 1000),))


def cumsum(make: Make) -> Case:
    return Case(lambda x: x.cumsum(-1), (make.floats(32, 2000),))


def random(make: Make) -> Case:
    return Case(lambda x: x + torch.rand_like(x) * torch.randn_like(x), (make.floats(1024),))


def dropout(make: Make) -> Case:
    return Case(lambda x: functional.dropout(x, 0.5, True), (make.floats(1024),))


def parts(make: Make) -> Case:
    def run(x: Tensor, y: Tensor) -> Tensor:
        one, two = torch.cat([x, y * 2], 1).chunk(2, 1)
        return one.roll(1, 0) - two.flip(0)

    return Case(run, (make.floats(64, 48), make.floats(64, 16)))


def integers(make: Make) -> Case:
    def run(x: Tensor) -> Tensor:
        return torch.where(x % 3 == 0, x // 2, x << 1)

    return Case(run, (make.integers(1000, below=1000),))


def functions(make: Make) -> Case:
    def run(x: Tensor) -> Tensor:
        return torch.erf(x) + torch.lgamma(x.abs() + 1) + torch.log1p(x.abs()).atan()

    return Case(run, (make.floats(4096),))


def training(make: Make) -> Case:
    layers = nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 10)
    model = make.trained(nn.Sequential(*layers))

    def loss(x: Tensor, wanted: Tensor) -> Tensor:
        return functional.cross_entropy(model(x), wanted)

    return Case(loss, (make.floats(16, 64), make.integers(16, below=10)))


def training_block(make: Make) -> Case:
    model = make.trained(Block(dropout=0.1))
    return Case(lambda x: model(x).square().mean(), (make.floats(2, 64, 256),))


def training_convolution(make: Make) -> Case:
    model = make.trained(Residual())
    return Case(lambda x: model(x).mean(), (make.floats(4, 32, 16, 16),))


def dynamic(make: Make) -> Case:
    def run(x: Tensor) -> Tensor:
        return (x / x.norm(dim=-1, keepdim=True)).sum(0)

    return Case(run, (make.floats(37, 65),), Variant(dynamic=True))


def dynamic_block(make: Make) -> Case:
    model = make.frozen(Block(), HALF)
    return Case(model, (make.floats(3, 50, 256, dtype=HALF),), Variant(dynamic=True))


def graph_break(make: Make) -> Case:
    def run(x: Tensor) -> Tensor:
        y = x.sin() * 2
        torch._dynamo.graph_break()
        return y.cos().sum()

    return Case(run, (make.floats(256, 256),))


def block(make: Make) -> Case:
    return Case(make.frozen(Block(), HALF), (make.floats(2, 64, 256, dtype=HALF),))


def gpt2(make: Make) -> Case:
    from transformers import GPT2Config, GPT2Model

    config = GPT2Config(n_layer=2, n_embd=256, n_head=4, vocab_size=1000, use_cache=False)
    model = make.frozen(GPT2Model(config), HALF)
    return Case(model, (make.integers(1, 32, below=1000),))


def resnet18(make: Make) -> Case:
    from torchvision.models import resnet18 as resnet

    return Case(make.frozen(resnet(), HALF), (make.floats(1, 3, 224, 224, dtype=HALF),))


NEEDS = {"gpt2": "transformers", "resnet18": "torchvision"}
"""Subject → the module that it takes, which may not be there."""

CASES: dict[str, Callable[[Make], Case]] = {
    subject.__name__: subject
    for subject in (
        pointwise,
        broadcast,
        softmax,
        cross_entropy,
        reduction,
        whole_reduction,
        argmax,
        layer_norm,
        rms_norm,
        group_norm,
        batch_norm,
        product,
        odd_product,
        epilogue,
        norm_gelu_product,
        batched_product,
        convolution,
        residual,
        pooling,
        attention,
        attention_float32,
        masked_attention,
        flex_attention,
        embedding,
        gather,
        scatter,
        sort,
        topk,
        cumsum,
        random,
        dropout,
        parts,
        integers,
        functions,
        training,
        training_block,
        training_convolution,
        dynamic,
        dynamic_block,
        graph_break,
        block,
        gpt2,
        resnet18,
    )
}
