"""Finds the sizes and values that generated code assumes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from ...report import Baked, Kernel
from ..text.cpp_numbers import SUFFIX
from ..text.triton_source import ARGUMENT, NUMEL, SIGNATURE

_MAX_NUMBERS = 40
"""The most numbers listed for a kernel; an unrolled kernel may have thousands."""

_BLOCK = re.compile(r"^\s+(\w*BLOCK\w*)\s*: tl\.constexpr = (\d+)$")
_DIVISIBLE = re.compile(r"\((\d+),\): \[\['tt\.divisibility', 16\]\]")
_OLD_DIVISIBLE = re.compile(r"divisible_by_16=\(([\d, ]*)\)")
_ADDRESS = re.compile(r"tl\.(?:load|store)\(\w+ \+ \((.*?)\)[,)]")
_CPP_ADDRESS = re.compile(
    r"_ptr\d* \+ static_cast<int64_t>\(([^;]*?)\)|_ptr\d*\[static_cast<int64_t>\((.*?)\)\]"
)
_FACTOR = re.compile(rf"(?<![\w.])(\d+){SUFFIX}\*\(?([A-Za-z_]\w*)")
_LOOP = re.compile(
    rf" *for\s*\(\s*int64_t (\w+)=.*?; ?\w+<static_cast<int64_t>\((\d+){SUFFIX}\); ?"
    r"\w+\+=.*\)\s*$"
)
_TL_VALUE = re.compile(r"tl\.full\(\[[^\]]*\], (-?[\d.]+(?:e[-+]?\d+)?), tl\.(float\w+)\)")
_CPP_VALUE = re.compile(r"static_cast<(float|double)>\((-?[\d.]+(?:e[-+]?\d+)?)\)")


def add_baked(kernels: Sequence[Kernel]) -> None:
    """Fill in ``baked`` of generated kernels, from their source."""
    for kernel in kernels:
        if kernel.source and kernel.language in ("triton", "cpp"):
            read = _triton if kernel.language == "triton" else _cpp
            unique: dict[tuple[str, str, str], Baked] = {}
            for baked in read(kernel.source):
                unique.setdefault((baked.kind, baked.name, baked.value), baked)
            kernel.baked = list(unique.values())[:_MAX_NUMBERS]


def _triton(source: str) -> Iterator[Baked]:
    lines = source.split("\n")
    for number, line in enumerate(lines, start=1):
        if (match := NUMEL.match(line)) or (match := _BLOCK.match(line)):
            yield _size(match, number)
    yield from _hints(source, lines)
    for number, line in enumerate(lines, start=1):
        for address in _ADDRESS.finditer(line):
            yield from _strides(address.group(1) or "", number)
        for match in _TL_VALUE.finditer(line):
            yield from _value(match.group(1), number)


def _hints(source: str, lines: Sequence[str]) -> Iterator[Baked]:
    """The hints of torch to Triton about arguments: which of them 16 divides."""
    signature = SIGNATURE.search(source)
    if signature is None:
        return
    types = ARGUMENT.findall(signature.group(1))
    old = _OLD_DIVISIBLE.search(source)
    places = [int(place) for place in _DIVISIBLE.findall(source)]
    places += [int(place) for place in re.findall(r"\d+", old.group(1))] if old else []
    number = next((n for n, line in enumerate(lines, start=1) if "'signature'" in line), None)
    for place in dict.fromkeys(places):
        if place < len(types):
            name, kind = types[place]
            means: Literal["aligned", "divisible"] = (
                "aligned" if kind.startswith("*") else "divisible"
            )
            yield Baked(name=name, value="16", kind=means, line=number)


def _cpp(source: str) -> Iterator[Baked]:
    lines = source.split("\n")
    for number, line in enumerate(lines, start=1):
        if match := _LOOP.match(line):
            yield _size(match, number)
    for number, line in enumerate(lines, start=1):
        for match in _CPP_ADDRESS.finditer(line):
            yield from _strides(match.group(1) or match.group(2) or "", number)
        for match in _CPP_VALUE.finditer(line):
            yield from _value(match.group(2), number)


def _size(match: re.Match[str], number: int) -> Baked:
    return Baked(name=match.group(1), value=match.group(2), line=number)


def _strides(address: str, number: int) -> Iterator[Baked]:
    for factor, name in _FACTOR.findall(address):
        name = name.removesuffix("_inner")
        yield Baked(name=name, value=factor, kind="stride", line=number)


def _value(text: str, number: int) -> Iterator[Baked]:
    if text not in ("0", "0.0", "1", "1.0"):
        yield Baked(name="constant", value=text, kind="value", line=number)
