"""Triton kernels that the user wrote, which graphs refer to by their numbers in a table of torch's.

Stands on ``torch._higher_order_ops.triton_kernel_wrap.kernel_side_table`` (id_to_kernel,
kernel_to_id, constant_args): the same from 2.11 to 2.15.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch._higher_order_ops import triton_kernel_wrap

_TABLES = ("id_to_kernel", "kernel_to_id", "constant_args")


@contextmanager
def kept() -> Iterator[None]:
    """Keeps the table over a reset of torch's compilers: captured graphs go on to refer to it."""
    table: Any = triton_kernel_wrap.kernel_side_table
    before = {name: getattr(table, name) for name in _TABLES}
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(table, name, value)
