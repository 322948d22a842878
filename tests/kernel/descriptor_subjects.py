"""Subjects with TMA descriptors, user-written kernels among them; other processes import it."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

BLOCK = 64


@triton.jit
def add_one(x, y, rows, columns, HIGH: tl.constexpr, WIDE: tl.constexpr):  # type: ignore[no-untyped-def]
    first, second = tl.program_id(0) * HIGH, tl.program_id(1) * WIDE
    source = tl.make_tensor_descriptor(x, [rows, columns], [columns, 1], [HIGH, WIDE])
    target = tl.make_tensor_descriptor(
        y, shape=[rows, columns], strides=[columns, 1], block_shape=[HIGH, WIDE]
    )
    target.store([first, second], source.load([first, second]) + 1)


@triton.jit
def add_two(source, target, HIGH: tl.constexpr, WIDE: tl.constexpr):  # type: ignore[no-untyped-def]
    first, second = tl.program_id(0) * HIGH, tl.program_id(1) * WIDE
    target.store([first, second], source.load([first, second]) + 2)


def made_on_device(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    grid = (x.shape[0] // BLOCK, x.shape[1] // BLOCK)
    add_one[grid](x, y, x.shape[0], x.shape[1], BLOCK, BLOCK)
    return y * 2


def made_on_host(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    given = TensorDescriptor.from_tensor(x, [BLOCK, BLOCK])
    taken = TensorDescriptor.from_tensor(y, [BLOCK, BLOCK])
    grid = (x.shape[0] // BLOCK, x.shape[1] // BLOCK)
    add_two[grid](given, taken, BLOCK, BLOCK)
    return y * 2


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a @ b).relu()


def added(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return (a + b.t()).relu()
