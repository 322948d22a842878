"""A kernel's source without the parts that differ between wrappers: its name and decoration."""

from __future__ import annotations

import re

from ...report import Kernel

_HEURISTICS = re.compile(
    r"^@triton_heuristics\.\w+\(.*?^\)\n(?=@triton\.jit)", re.DOTALL | re.MULTILINE
)
_EXPORT = re.compile(r'extern\s+"C"\s+(?:__declspec\(dllexport\)\s+)?(?:__attribute__\S*\s+)?')


def body(kernel: Kernel) -> str | None:
    """The part of a kernel's source that both wrappers share; None without source."""
    plain = _plain(kernel)
    return None if plain is None else " ".join(plain.split())


def body_lines(kernel: Kernel) -> list[str]:
    """The lines of that part, without their indent and without empty ones."""
    lines = (line.strip() for line in (_plain(kernel) or "").split("\n"))
    return [line for line in lines if line]


def _plain(kernel: Kernel) -> str | None:
    if not kernel.source:
        return None
    if "@triton.jit" in kernel.source:
        # The launch heuristics contain the wrapper's settings; the kernel's helpers may be above.
        _, jit, triton = _HEURISTICS.sub("", kernel.source).partition("@triton.jit")
        if jit:
            return triton.replace(kernel.name, "kernel")
    lines = [line for line in kernel.source.split("\n") if not line.startswith("#include")]
    return _EXPORT.sub("", "\n".join(lines)).replace(kernel.name, "kernel")
