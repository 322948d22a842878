"""Copies the tensors of a call with their layout."""

from __future__ import annotations

from typing import Any

import torch

from . import tensors


def copied(value: Any) -> Any:
    """A tensor of its own with the same values and the same layout; anything else as it is."""
    from torch._inductor.utils import clone_preserve_strides

    if not isinstance(value, torch.Tensor):
        return value
    detached = value.detach()
    if value.layout != torch.strided or value.is_nested or tensors.is_wrapper(value):
        return detached.clone()
    return clone_preserve_strides(detached)
