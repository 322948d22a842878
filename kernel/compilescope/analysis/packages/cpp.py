"""Reads the model's constants, inputs and outputs from AOTInductor's C++."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...report import Constant
from ..text.cpp_numbers import SUFFIX

_CONSTANT = re.compile(r"^[ \t]*constants_info_\[(\d{1,9})\]\.(\w+) = (.*);$", re.M)
"""Anchored at the beginning of a line, so that a long line is searched only once."""
_DTYPE = re.compile(r"dtype_(\w+?)\)?$")
_INPUT = re.compile(r'inputs_info_\[\d+\]\.name = "([^"]*)";')
_OUTPUT = re.compile(r'outputs_info_\[\d+\]\.name = "([^"]*)";')
_EXPECTED_DTYPE = re.compile(r"int32_t (\w+)_expected_dtype = aoti_torch_dtype_(\w+)\(\);")
_SIZE = re.compile(rf"if \((\d+){SUFFIX} != (\w+)_size\[(\d{{1,9}})\]\)")
_SYMBOL = re.compile(r"int64_t (\w+) = (\w+)_size\[(\d{1,9})\];")
_BOUND = re.compile(rf"if \((\w+)_size\[(\d+)\] ([<>]) (-?\d{{1,19}}){SUFFIX}\)")
_COMMAND = re.compile(r"^// (?:Compile|Link) cmd\n// (.*)$", re.M)
_DEVICE = re.compile(r"#include <torch/csrc/inductor/aoti_include/(\w+)\.h>")
_MAX_DIMENSIONS = 63
"""The limit of a tensor's dimensions: torch's own tensors have at most 64."""
_UNBOUNDED = 2**62
"""Every size has a limit anyway; a bound near it means nothing."""


def constants(text: str) -> list[Constant]:
    """The tensors in the model, in order."""
    by_number: dict[int, dict[str, str]] = {}
    for number, field, value in _CONSTANT.findall(text):
        by_number.setdefault(int(number), {})[field] = value.strip()
    return [_constant(fields) for _, fields in sorted(by_number.items())]


def _constant(fields: dict[str, str]) -> Constant:
    dtype = _DTYPE.search(fields.get("dtype", ""))
    size = fields.get("data_size", "")
    return Constant(
        name=fields.get("name", "").strip('"'),
        original=fields.get("original_fqn", "").strip('"'),
        dtype=dtype.group(1) if dtype else "",
        shape=[int(digits) for digits in re.findall(r"\d{1,19}", fields.get("shape", ""))],
        bytes=int(size) if re.fullmatch("[0-9]{1,19}", size) else None,
        folded=fields.get("from_folded") == "true",
    )


def inputs(text: str) -> list[str]:
    """One line per input, as far as the code checks it: ``arg0_1: float32[s0, 16]``."""
    dtypes = dict(_EXPECTED_DTYPE.findall(text))
    checked: dict[str, dict[int, str]] = {}
    for value, name, dimension in _SIZE.findall(text):
        checked.setdefault(name, {})[int(dimension)] = value
    for symbol, name, dimension in _SYMBOL.findall(text):
        checked.setdefault(name, {})[int(dimension)] = symbol
    sizes = {
        name: ", ".join(
            input_sizes.get(place, "?")
            for place in range(min(max(input_sizes), _MAX_DIMENSIONS) + 1)
        )
        for name, input_sizes in checked.items()
    }
    return [
        f"{name}: {dtypes.get(name, 'tensor')}[{sizes[name]}]"
        if name in sizes
        else f"{name}: {dtypes[name]}"
        if name in dtypes
        else name
        for name in _INPUT.findall(text)
    ]


def outputs(text: str) -> list[str]:
    """The names of the outputs, in their order."""
    return _OUTPUT.findall(text)


def dynamic(text: str) -> list[str]:
    """The ranges of symbols, as the code checks them: ``s0 in [2, 1024]``."""
    bounds: dict[tuple[str, str], dict[str, int]] = {}
    for name, dimension, sign, value in _BOUND.findall(text):
        bounds.setdefault((name, dimension), {})[sign] = int(value)
    ranges: dict[str, str] = {}
    for symbol, name, dimension in _SYMBOL.findall(text):
        limits = bounds.get((name, dimension), {})
        ranges.setdefault(symbol, in_range(symbol, limits.get("<", 0), limits.get(">")))
    return list(ranges.values())


def in_range(symbol: str, lower: int, upper: int | None) -> str:
    """A symbol with its range in words; ``upper`` is None without a limit."""
    if upper is None or upper >= _UNBOUNDED:
        return f"{symbol} at least {lower}"
    return f"{symbol} in [{lower}, {upper}]"


def build(text: str) -> list[str]:
    """The build commands, if torch wrote them below the code."""
    return _COMMAND.findall(text)


def device(texts: Iterable[str]) -> str:
    """The device of the code, from the headers that it includes; empty if unknown."""
    for text in texts:
        match = _DEVICE.search(text)
        if match:
            return match.group(1)
    return ""
