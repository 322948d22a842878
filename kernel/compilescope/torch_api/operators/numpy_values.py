"""NumPy's arrays and scalars, which a call may return, as tensors."""

from __future__ import annotations

import sys
from typing import Any

import torch

_NUMBERS = "biufc"
"""NumPy's kinds of numbers: booleans, integers, floats, complex numbers."""


def from_numpy(value: Any) -> Any:
    """A copy of NumPy's numbers as a tensor; another value itself.

    Numbers that torch has no type for are not changed either.
    """
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return value
    if value.dtype.kind not in _NUMBERS:
        return value
    try:
        return torch.from_numpy(numpy.array(value, order="C"))
    except (TypeError, ValueError):
        return value
