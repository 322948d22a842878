"""Parses FX's annotations, ``x: "f32[4, 32][32, 1]cpu"``, into shape, stride, dtype, device."""

from __future__ import annotations

import re
from functools import lru_cache

from ..text.brackets import split_list

_TENSOR = re.compile(r"^([A-Za-z]\w*)\[([^\]]*)\](?:\[([^\]]*)\])?(\S*)$")
_WRAPPED = re.compile(r"^\w+\((.*)\)$", re.S)
_DTYPES = {
    "f64": "float64",
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "c32": "complex32",
    "c64": "complex64",
    "c128": "complex128",
    "i64": "int64",
    "i32": "int32",
    "i16": "int16",
    "i8": "int8",
    "u64": "uint64",
    "u32": "uint32",
    "u16": "uint16",
    "u8": "uint8",
    "b8": "bool",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
}


@lru_cache(maxsize=4096)  # a big graph has few shapes; its nodes share the lists
def read_annotation(
    text: str | None,
) -> tuple[list[str] | None, list[str] | None, str | None, str | None]:
    """Read ``f32[4, 32][32, 1]cpu`` → shape, stride, dtype, device; None for what is not there."""
    if not text:
        return None, None, None, None
    wrapped = _WRAPPED.match(text)
    if wrapped:  # DTensor(f32[…]…, …), Parameter(f32[…]…), Sym(s0)
        pieces = split_list(wrapped.group(1))
        text = pieces[0] if pieces else ""
    match = _TENSOR.match(text)
    if match is None:
        return None, None, None, None
    dtype, shape, stride, device = match.groups()
    return (
        split_list(shape),
        None if stride is None else split_list(stride),
        _DTYPES.get(dtype, dtype),
        device or None,
    )
