"""Copies the tensors of a call with their layout."""

from __future__ import annotations

from typing import Any

import torch


def copied(value: Any) -> Any:
    """A copy of a tensor with the same layout; any other value is returned unchanged."""
    if not isinstance(value, torch.Tensor):
        return value
    copy = value.clone()
    if copy.layout is torch.strided and copy.stride() == value.stride():
        return copy
    # A clone of a tensor with gaps, or whose elements overlap, gets a new layout.
    from torch._inductor.utils import clone_preserve_strides

    return clone_preserve_strides(value)
