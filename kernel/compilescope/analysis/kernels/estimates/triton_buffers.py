"""Which elements of its buffers a launch of a Triton kernel accesses, read from its source."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ....report import Kernel
from ...text.brackets import closing, split_list
from ...text.sizes import Hints, UnknownSize, size_of
from ...text.triton_source import SIGNATURE
from ..grid import numels_of, signature_of

_CALL = re.compile(r"[\w.]+\(")
_ACCESS = re.compile(r"tl\.(load|store|atomic_\w+)\((\w*ptr\w*) \+ (?=\()")
_INDEX = re.compile(r"^\s+([xyzr]\w*\d) = (.*\b(\w+)index\b.*)$", re.M)
_DIVISOR = re.compile(r"// (\d+)")
_MODULUS = re.compile(r"% (\d+)")
_VARIABLE = re.compile(r"\b[xyzr]\w*\d\b")
_LOADED = re.compile(r"\btmp\d+\b")
_BUFFER = re.compile(r"\bbuf\d+\b")
_DTYPES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e4nv": "float8_e4m3fn",
    "fp8e5": "float8_e5m2",
    "i1": "bool",
    "i8": "int8",
    "u8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
}


@dataclass
class Access:
    """How a launch accesses one of its buffers."""

    buffer: str
    """As the wrapper names it; empty for an input."""
    dtype: str
    elements: int | None = 0
    """How many elements it accesses; None if unknown."""
    read: bool = False
    written: bool = False


def accesses(kernel: Kernel, call: str, hints: Hints) -> list[Access] | None:
    """How a launch of a Triton kernel accesses its buffers; None if the call cannot be read.

    Parameters
    ----------
    call
        The launch in the wrapper, whole.
    hints
        The values that symbols had when torch compiled.
    """
    start = _CALL.search(call)
    if not start or not SIGNATURE.search(kernel.source):
        return None
    opened = start.end() - 1
    values = split_list(call[opened + 1 : closing(call, opened) - 1])
    by_name: dict[str, Access] = {}
    for (name, kind), value in zip(signature_of(kernel.source), values, strict=False):
        if kind.startswith("*"):
            names = _BUFFER.findall(value)
            by_name[name] = Access(names[0] if names else "", _DTYPES.get(kind[1:], ""))
    ranges = _ranges(kernel, hints)
    for match in _ACCESS.finditer(kernel.source):
        access = by_name.get(match[2])
        if access is None:
            continue  # scratch memory of the kernel's own
        access.read |= match[1] != "store"
        access.written |= match[1] != "load"
        index = kernel.source[match.end() : closing(kernel.source, match.end())]
        count = _count(index, ranges)
        known = count is not None and access.elements is not None
        access.elements = max(count or 0, access.elements or 0) if known else None
    for name, access in by_name.items():
        if not access.read and not access.written:
            # The kernel accesses it by a block pointer or a descriptor.
            access.elements = None
            access.read, access.written = not name.startswith("out_"), not name.startswith("in_ptr")
    return list(by_name.values())


def _ranges(kernel: Kernel, hints: Hints) -> dict[str, int]:
    """How many values each index variable of a kernel takes."""
    numels = {
        name.removesuffix("numel"): size
        for name, text in numels_of(kernel.grid)
        if (size := _known_size(text, hints)) is not None
    }
    ranges = {}
    for name, text, prefix in _INDEX.findall(kernel.source):
        modulus, divisor = _MODULUS.findall(text), _DIVISOR.findall(text)
        if modulus:
            ranges[name] = int(modulus[-1])
        elif prefix in numels:
            ranges[name] = -(-numels[prefix] // math.prod(map(int, divisor)))
    return ranges


def _known_size(text: str, hints: Hints) -> int | None:
    try:
        return size_of(text, hints, {})
    except UnknownSize:
        return None


def _count(index: str, ranges: dict[str, int]) -> int | None:
    variables = set(_VARIABLE.findall(index))
    if _LOADED.search(index) or not variables <= ranges.keys():
        return None
    return math.prod(ranges[name] for name in variables)
