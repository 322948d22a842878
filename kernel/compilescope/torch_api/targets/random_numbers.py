"""Triton kernels that compute Inductor's random numbers with Philox.

Relies on ``torch._inductor.runtime.triton_helpers``.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers


@triton.jit
def uniform(out, seed, BLOCK: tl.constexpr):  # noqa: N803
    """Numbers from 0 to 1, as ``rand`` gives them."""
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offset, tl.rand(seed, offset.to(tl.uint32)))


@triton.jit
def integers(out, seed, low_ptr, high_ptr, BLOCK: tl.constexpr):  # noqa: N803
    """Integers, as ``randint`` gives them."""
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    low, high = tl.load(low_ptr), tl.load(high_ptr)
    numbers = triton_helpers.randint64(seed, offset.to(tl.uint32), low, high)
    tl.store(out + offset, numbers)


@triton.jit
def normal(out, seed, BLOCK: tl.constexpr):  # noqa: N803
    """Normal numbers, as ``randn`` gives them."""
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offset, tl.randn(seed, offset.to(tl.uint32)))


@triton.jit
def uniform_lanes(out, seed, BLOCK: tl.constexpr):  # noqa: N803
    """Numbers from 0 to 1, as ``rand4x`` gives them: four at each offset."""
    fours = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    first, second, third, fourth = tl.rand4x(seed, fours.to(tl.uint32))
    tl.store(out + 4 * fours, first)
    tl.store(out + 4 * fours + 1, second)
    tl.store(out + 4 * fours + 2, third)
    tl.store(out + 4 * fours + 3, fourth)


@triton.jit
def normal_lanes(out, seed, BLOCK: tl.constexpr):  # noqa: N803
    """Normal numbers, as ``randn4x`` gives them: four at each offset."""
    fours = tl.program_id(0) * (BLOCK // 4) + tl.arange(0, BLOCK // 4)
    first, second, third, fourth = tl.randn4x(seed, fours.to(tl.uint32))
    tl.store(out + 4 * fours, first)
    tl.store(out + 4 * fours + 1, second)
    tl.store(out + 4 * fours + 2, third)
    tl.store(out + 4 * fours + 3, fourth)
