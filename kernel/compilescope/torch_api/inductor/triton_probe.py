"""Compiles a kernel with Triton for an H100, which need not be present. Run it as a program.

Relies on ``triton.compile``, ``triton.compiler.ASTSource`` and ``GPUTarget``: Triton 3.6 to 3.9.
"""

from __future__ import annotations

import sys
from typing import Any

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit  # type: ignore[untyped-decorator, misc, unused-ignore]  # it has none
def double(x, y, n, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    """Doubles numbers."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


def main() -> None:
    """Compiles the kernel and prints the result."""
    source: Any = ASTSource(
        fn=double,
        signature={"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"},
        constexprs={(3,): 128},
    )
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    size = len(compiled.asm["cubin"])
    sys.stdout.write(f"A kernel for cuda 90 comes out as {size:,} bytes of machine code.\n")


if __name__ == "__main__":
    main()
