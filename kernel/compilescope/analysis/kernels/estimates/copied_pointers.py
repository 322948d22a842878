"""Reads from a kernel's source which of its outputs are copies of an input.

A kernel that copies the weight of a convolution into another layout may compute something else,
too, and torch names no node for the copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ....report import Kernel
from ...text.brackets import closing
from .library_inputs import moves_only

_LOAD = re.compile(r"^\s+(tmp\d+) = tl\.load\((in_ptr\d+) \+")
_ASSIGNED = re.compile(r"^\s+(tmp\d+) = ")
_STORE = re.compile(r"^\s+tl\.store\((out_ptr\d+) \+ .*?\), (tmp\d+)\b")
_LOOP = re.compile(r"\bfor ?\(")
POINTER = re.compile(r"\b(?:in_out|in|out)_ptr\d+\b")


def copied_pointers(kernel: Kernel) -> dict[str, str]:
    """Output pointer → the input pointer whose values it gets, unchanged."""
    if kernel.language == "triton":
        return dict(_in_triton(kernel.source))
    return dict(_in_cpp(kernel)) if kernel.language == "cpp" else {}


def _in_triton(source: str) -> Iterator[tuple[str, str]]:
    loaded: dict[str, str] = {}
    for line in source.split("\n"):
        if match := _LOAD.match(line):
            loaded[match[1]] = match[2]
        elif match := _ASSIGNED.match(line):
            loaded.pop(match[1], None)
        elif (match := _STORE.match(line)) and match[2] in loaded:
            yield match[1], loaded[match[2]]


def _in_cpp(kernel: Kernel) -> Iterator[tuple[str, str]]:
    """A loop nest that only moves the values of one input copies it to each of its outputs."""
    for nest in _nests(kernel.source):
        pointers = set(POINTER.findall(nest))
        outputs = sorted(pointer for pointer in pointers if pointer.startswith("out_"))
        inputs = sorted(pointers.difference(outputs))
        if len(inputs) == 1 and moves_only(msgspec.structs.replace(kernel, source=nest)):
            yield from ((output, inputs[0]) for output in outputs)


def _nests(source: str) -> Iterator[str]:
    """The text of each outermost loop."""
    end = 0
    for match in _LOOP.finditer(source):
        if match.start() < end:
            continue
        opened = source.find("{", match.end())
        if opened < 0:
            return
        end = closing(source, opened)
        yield source[match.start() : end]
