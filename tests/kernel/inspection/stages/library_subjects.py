"""Thirty functions and modules of torch's own library, called as its documentation calls them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.distributions import Normal
from torch.nn import functional

Call = tuple[Callable[..., Any], tuple[Any, ...]]


def _floats(*sizes: tuple[int, ...], grad: bool = True) -> tuple[torch.Tensor, ...]:
    return tuple(torch.randn(size, requires_grad=grad) for size in sizes)


def _labels(count: int, below: int) -> torch.Tensor:
    return torch.arange(count) % below


LIBRARY: dict[str, Callable[[], Call]] = {
    "cross_entropy": lambda: (functional.cross_entropy, (*_floats((6, 5)), _labels(6, 5))),
    "binary_cross_entropy_with_logits": lambda: (
        functional.binary_cross_entropy_with_logits,
        (*_floats((6, 5)), torch.rand(6, 5)),
    ),
    "kl_div": lambda: (
        functools.partial(functional.kl_div, reduction="batchmean"),
        (*_floats((6, 5)), torch.rand(6, 5)),
    ),
    "huber_loss": lambda: (functional.huber_loss, _floats((6, 5), (6, 5))),
    "triplet_margin_loss": lambda: (
        functional.triplet_margin_loss,
        _floats((6, 5), (6, 5), (6, 5)),
    ),
    "cosine_similarity": lambda: (functional.cosine_similarity, _floats((6, 5), (6, 5))),
    "normalize": lambda: (functional.normalize, _floats((6, 5))),
    "layer_norm": lambda: (
        functools.partial(functional.layer_norm, normalized_shape=(5,)),
        _floats((6, 5)),
    ),
    "local_response_norm": lambda: (
        functools.partial(functional.local_response_norm, size=2),
        _floats((2, 4, 6)),
    ),
    "interpolate": lambda: (
        functools.partial(functional.interpolate, scale_factor=2.0, mode="bilinear"),
        _floats((1, 2, 4, 4)),
    ),
    "grid_sample": lambda: (
        functools.partial(functional.grid_sample, align_corners=False),
        (torch.randn(1, 2, 4, 4), torch.rand(1, 3, 3, 2) * 2 - 1),
    ),
    "unfold": lambda: (
        functools.partial(functional.unfold, kernel_size=(2, 2)),
        _floats((1, 3, 5, 5)),
    ),
    "gumbel_softmax": lambda: (functional.gumbel_softmax, _floats((6, 5))),
    "scaled_dot_product_attention": lambda: (
        functional.scaled_dot_product_attention,
        _floats((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8)),
    ),
    "cdist": lambda: (torch.cdist, _floats((6, 5), (4, 5), grad=False)),
    "std_mean": lambda: (torch.std_mean, _floats((4, 6))),
    "logcumsumexp": lambda: (
        functools.partial(torch.logcumsumexp, dim=1),
        _floats((6, 5), grad=False),
    ),
    "trapezoid": lambda: (torch.trapezoid, _floats((6, 5), (6, 5))),
    "tensordot": lambda: (functools.partial(torch.tensordot, dims=1), _floats((6, 5), (5, 4))),
    "bucketize": lambda: (torch.bucketize, (torch.randn(9), torch.arange(3.0))),
    "log_prob": lambda: (Normal(torch.zeros(5), torch.ones(5)).log_prob, _floats((6, 5))),
    "soft_margin_loss": lambda: (
        functional.soft_margin_loss,
        (*_floats((6, 5)), torch.randn(6, 5).sign()),
    ),
    "MultiheadAttention": lambda: (
        nn.MultiheadAttention(8, 2),
        _floats((4, 3, 8), (4, 3, 8), (4, 3, 8)),
    ),
    # As it is used after training: what it trains is in MultiheadAttention and LayerNorm.
    "TransformerEncoderLayer": lambda: (
        nn.TransformerEncoderLayer(8, 2, 16).eval().requires_grad_(False),
        _floats((4, 3, 8), grad=False),
    ),
    "LSTMCell": lambda: (nn.LSTMCell(5, 4), _floats((6, 5))),
    "EmbeddingBag": lambda: (nn.EmbeddingBag(9, 4, mode="sum"), (_labels(12, 9).view(3, 4),)),
    "AdaptiveAvgPool2d": lambda: (nn.AdaptiveAvgPool2d(3), _floats((1, 2, 7, 7))),
    "PixelShuffle": lambda: (nn.PixelShuffle(2), _floats((1, 8, 3, 3))),
    "BatchNorm1d": lambda: (nn.BatchNorm1d(5), _floats((6, 5))),
    "AdaptiveLogSoftmaxWithLoss": lambda: (
        nn.AdaptiveLogSoftmaxWithLoss(6, 9, cutoffs=[4]).log_prob,
        _floats((5, 6)),
    ),
}
