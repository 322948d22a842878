"""Identifies equal kernels across wrappers."""

from __future__ import annotations

import re

_NAME = re.compile(r"^def (\w+)\(", re.MULTILINE)


def body(source: str) -> str:
    """A kernel's function without its name; all of the source where there is none."""
    _, decorator, function = source.partition("@triton.jit")
    name = _NAME.search(function)
    if not decorator or name is None:
        return source.strip()
    lines = re.sub(rf"\b{re.escape(name[1])}\b", "kernel", function).strip().splitlines()
    return "\n".join(line.rstrip() for line in lines)
