"""Removes the user's constants from graphs and generated code.

All floats are removed except a few common ones, whoever wrote them, because torch also derives
constants from the user's. Strings are removed, except the modes that torch's own operators know.

Integers of two and more digits are the user's if an operator, a guard, a symbol or an argument
has them and no tensor has them as a size or a stride. They are removed everywhere, also in
sentences. Dimensions, indices and steps have one digit, so those numbers stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .literals import quoted
from .redaction_mark import CONSTANT

_FLOAT = re.compile(
    r"(?<![\w.])(\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+))(?=[fFjJ]?(?:[^\w.]|$))"
)
_COMMON_FLOATS = (0.0, 0.5, 1.0, 2.0)
_WHOLE = re.compile(r"(?<![\w.])(?<!:)(?<!\bline )\d{2,}(?=[uUlL]*(?:\W|$))(?!\.\d)")
"""An integer that is not a line number."""
_SIZES = re.compile(r"(?:size|stride)=\[[^\]]*\]|\.(?:size|stride)\(\)\[\d+\] == \d+")
"""The sizes that a guard requires."""
_DIGITS = re.compile(r"\d+")
_NO_END = (str(2**63 - 1), str(2**31 - 1))
"""The end of a slice without a limit."""
_BITS = re.compile(r"\b0[xXfFdD][0-9a-fA-F]{7,}\b|\.(?:long|quad|word|[48]byte)\s+-?\d+|\$-?\d{4,}")
"""A constant in assembly: its bits (``0f47B03240``), data, an immediate operand."""
_KERNEL_OF_THE_USERS = "triton_kernel_wrapper"
"""The operators whose strings are names of a kernel's parameters."""

MODES = frozenset(
    (
        *("area", "backward", "bicubic", "bilinear", "border", "ceil", "circular", "complete"),
        *("constant", "cpu", "cubic", "cuda", "floor", "forward", "fro", "ieee", "inductor", "inf"),
        *("left", "linear", "lower", "max", "amax", "mean", "meta", "min", "amin", "mps"),
        *("nearest", "nearest-exact", "none", "nuc", "ortho", "prod", "raw", "reduced", "reflect"),
        *("reflection", "replicate", "right", "round", "same", "sum", "tanh", "tf32", "trilinear"),
        *("trunc", "upper", "valid", "xpu", "zeros", "L", "R"),
    )
)
"""Strings that torch's own operators take and that are not the user's: modes, devices."""


class Constants:
    """The user's constants that a report holds.

    Parameters
    ----------
    structs
        All structs of the report, as plain data.
    is_custom
        Whether an operator, given its target, is not torch's.
    """

    def __init__(self, structs: Iterable[dict[str, Any]], is_custom: Callable[[str], bool]) -> None:
        self.texts: set[str] = set()
        sizes: set[str] = set(_NO_END)
        numbers: set[str] = set()
        for struct in structs:
            if struct.keys() >= NODE_FIELDS:
                for side in ("shape", "stride"):
                    sizes.update(struct.get(side) or ())
                if _KERNEL_OF_THE_USERS in struct["target"]:
                    continue
                texts = set(quoted(struct["args"]))
                self.texts |= texts if is_custom(struct["target"]) else texts - MODES
            for marks, fields in _NUMBER_FIELDS:
                if marks <= struct.keys():
                    for text in _texts(struct[field] for field in fields):
                        sizes.update(_DIGITS.findall("".join(_SIZES.findall(text))))
                        numbers.update(_WHOLE.findall(text))
        self._numbers = numbers - sizes

    def numbers_left_out(self, text: str) -> str:
        """A text without the user's integers."""
        if not self._numbers:
            return text
        return _WHOLE.sub(self._out, text)

    def _out(self, match: re.Match[str]) -> str:
        return CONSTANT if match.group() in self._numbers else match.group()

    def left_out(self, text: str) -> str:
        """A graph's text or generated code without float constants."""
        return _FLOAT.sub(_plain_or_out, text)

    def left_out_of_assembly(self, text: str) -> str:
        """Assembly without the constants, which it contains as bits."""
        return self.left_out(_BITS.sub(CONSTANT, text))

    def without(self, value: dict[str, Any]) -> dict[str, Any]:
        """One struct of a report, as plain data, without the constants."""
        for marks, fields in _FIELDS:
            if marks <= value.keys():
                value = value | {
                    name: self.left_out(value[name])
                    for name in fields
                    if isinstance(value.get(name), str)
                }
        if isinstance(value.get("assembly"), dict):
            value = value | {
                "assembly": {
                    name: self.left_out_of_assembly(text)
                    for name, text in value["assembly"].items()
                }
            }
        return value


NODE_FIELDS = frozenset({"op", "target", "args"})
_FIELDS: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (frozenset({"stage", "text", "nodes"}), ("text",)),
    (NODE_FIELDS, ("args",)),
    (frozenset({"python", "cpp", "shell"}), ("python", "cpp", "shell", "aot")),
    (frozenset({"source", "launches", "ops"}), ("source",)),
    (frozenset({"artifact", "line", "text"}), ("text",)),
    (frozenset({"name", "value", "why"}), ("value",)),
    (frozenset({"path", "language", "text"}), ("text",)),
)
"""Fields that identify one of the report's structs → its fields that hold graphs or code."""
_NUMBER_FIELDS: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (NODE_FIELDS, ("args",)),
    (frozenset({"expression", "origin", "why"}), ("expression", "source")),
    (frozenset({"reasons", "failures"}), ("reasons",)),
    (frozenset({"name", "source", "value", "range"}), ("source", "value", "range")),
    (frozenset({"expression", "provenance", "locals"}), ("expression", "result")),
    (frozenset({"device", "arguments"}), ("arguments",)),
)
"""Fields that identify one of the report's structs → its fields where the user's integers appear:
as an operator's argument, in a comparison, as a value."""


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def _plain_or_out(match: re.Match[str]) -> str:
    return match.group() if float(match.group(1)) in _COMMON_FLOATS else CONSTANT
