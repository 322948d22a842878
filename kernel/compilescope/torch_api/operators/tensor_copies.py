"""Copies the tensors of a call with their layout."""

from __future__ import annotations

from typing import Any

import torch


def copied(value: Any) -> Any:
    """A tensor of its own with the same values and the same layout; anything else as it is."""
    from torch._inductor.utils import clone_preserve_strides

    return clone_preserve_strides(value) if isinstance(value, torch.Tensor) else value
