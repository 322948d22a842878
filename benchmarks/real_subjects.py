"""Models of real depth, each as a call in inference or as the loss of a training step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Subject = tuple[Callable[..., Any], tuple[Any, ...]]
TOKENS, LENGTH, BATCH = 1000, 64, 2


def gpt(width: int) -> Callable[[bool, int | None], Subject]:
    def create(train: bool, layers: int | None) -> Subject:
        blocks = [_GPTBlock(width, 8) for _ in range(layers or 12)]
        return _language_model(_Language(width, blocks, nn.LayerNorm, places=True), train)

    return create


def llama(train: bool, layers: int | None) -> Subject:
    blocks = [_LlamaBlock(256, 8) for _ in range(layers or 16)]
    return _language_model(_Language(256, blocks, nn.RMSNorm, places=False), train)


def resnet(train: bool, layers: int | None) -> Subject:
    """ResNet-50; ``layers`` says how many of its four stages there are."""
    stages = [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)][: layers or 4]
    modules: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    channels = 64
    for width, depth, stride in stages:
        for index in range(depth):
            modules.append(_Bottleneck(channels, width, stride if index == 0 else 1))
            channels = 4 * width
    model = nn.Sequential(
        *modules, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, TOKENS)
    )
    images = torch.randn(BATCH, 3, 64, 64)
    return _call(model, images, torch.randint(TOKENS, (BATCH,)), train)


def _language_model(model: nn.Module, train: bool) -> Subject:
    tokens, targets = (torch.randint(TOKENS, (BATCH, LENGTH)) for _ in range(2))
    return _call(model, tokens, targets.flatten(), train)


def _call(model: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, train: bool) -> Subject:
    if not train:
        return model.eval().requires_grad_(False), (inputs,)

    def loss(inputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(model(inputs).flatten(0, -2), targets)

    return loss, (inputs, targets)


def gpt2(train: bool, layers: int | None) -> Subject:
    """GPT-2 small of ``transformers`` on a GPU: half precision, one row of 32 tokens."""
    from transformers import GPT2Config, GPT2LMHeadModel

    model = GPT2LMHeadModel(GPT2Config(use_cache=False, n_layer=layers or 12)).cuda().half()
    ids = torch.randint(50_000, (1, 32), device="cuda")
    if not train:
        model.eval().requires_grad_(False)
        return (lambda ids: model(ids).logits), (ids,)
    return (lambda ids: model(ids, labels=ids).loss), (ids,)


SUBJECTS: dict[str, Callable[[bool, int | None], Subject]] = {
    "gpt-256": gpt(256),
    "gpt-768": gpt(768),
    "resnet-50": resnet,
    "llama": llama,
    "gpt2": gpt2,
}


class _Language(nn.Module):
    def __init__(
        self,
        width: int,
        blocks: Sequence[nn.Module],
        norm: Callable[[int], nn.Module],
        *,
        places: bool,
    ) -> None:
        super().__init__()
        self.tokens = nn.Embedding(TOKENS, width)
        self.places = nn.Embedding(LENGTH, width) if places else None
        self.blocks, self.norm = nn.ModuleList(blocks), norm(width)
        self.head = nn.Linear(width, TOKENS, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens)
        if self.places is not None:
            x = x + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        logits: torch.Tensor = self.head(self.norm(x))
        return logits


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int, *, rotated: bool) -> None:
        super().__init__()
        self.heads, self.rotated = heads, rotated
        self.qkv = nn.Linear(width, 3 * width, bias=not rotated)
        self.out = nn.Linear(width, width, bias=not rotated)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind()
        if self.rotated:
            q, k = _rotate(q), _rotate(k)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        result: torch.Tensor = self.out(attended.transpose(1, 2).flatten(2))
        return result


def _rotate(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    speeds = 10_000 ** (-torch.arange(half) / half)
    angles = torch.arange(x.shape[-2])[:, None] * speeds
    left, right = x[..., :half], x[..., half:]
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat([left * cosine - right * sine, left * sine + right * cosine], -1)


class _GPTBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = _Attention(width, heads, rotated=False)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm(x))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


class _LlamaBlock(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.attention = _Attention(width, heads, rotated=True)
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm(x))
        hidden = self.norm2(x)
        return x + self.down(functional.silu(self.gate(hidden)) * self.up(hidden))


class _Bottleneck(nn.Module):
    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(channels, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 4 * width, 1, bias=False),
            nn.BatchNorm2d(4 * width),
        )
        self.outer: nn.Module = nn.Identity()
        if stride != 1 or channels != 4 * width:
            self.outer = nn.Sequential(
                nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.inner(x) + self.outer(x)).relu()
