"""A kernel's source without what differs between the wrappers: its name and how it is wrapped."""

from __future__ import annotations

import re

from ..report import Kernel

_SPACE = re.compile(r"\s+")
_EXPORT = re.compile(r'extern\s+"C"\s+(?:__declspec\(dllexport\)\s+)?(?:__attribute__\S*\s+)?')


def body(kernel: Kernel) -> str | None:
    """The part of a kernel's source that both wrappers share; None where there is no source."""
    if not kernel.source:
        return None
    _, jit, triton = kernel.source.partition("@triton.jit")
    if jit:  # above it stand the launch heuristics, which name the wrapper's settings
        return _SPACE.sub(" ", triton.replace(kernel.name, "kernel")).strip()
    lines = [line for line in kernel.source.split("\n") if not line.startswith("#include")]
    text = _EXPORT.sub("", "\n".join(lines)).replace(kernel.name, "kernel")
    return _SPACE.sub(" ", text).strip()
