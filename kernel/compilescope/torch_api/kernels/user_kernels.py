"""Keeps torch's table of the user's Triton kernels, to whose indices graphs refer.

Relies on ``torch._higher_order_ops.triton_kernel_wrap.kernel_side_table`` (id_to_kernel,
kernel_to_id, constant_args): the same from 2.11 to 2.15.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch._higher_order_ops import triton_kernel_wrap

_TABLES = ("id_to_kernel", "kernel_to_id", "constant_args")


@contextmanager
def preserved() -> Iterator[None]:
    """Preserves the table across a reset of torch's compilers: captured graphs refer to it."""
    table: Any = triton_kernel_wrap.kernel_side_table
    before = {name: getattr(table, name) for name in _TABLES}
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(table, name, value)
