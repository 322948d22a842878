"""Removes the user's constants from graphs and generated code.

All floats are removed except a few common ones, whoever wrote them, because torch also derives
constants from the user's. Integers are mostly sizes and offsets: an integer is removed if an
operator gets it as an argument and no tensor has it as a size. Strings are removed, except the
modes that torch's own operators know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from .literals import quoted

_OUT = "…"
_FLOAT = re.compile(
    r"(?<![\w.])(\d+(?:\.\d*(?:[eE][+-]?\d+)?|[eE][+-]?\d+))(?=[fFjJ]?(?:[^\w.]|$))"
)
_TELLS_NOTHING = (0.0, 0.5, 1.0, 2.0)
_WHOLE = re.compile(r"(?<![\w.])\d{4,}(?![\w.])")
"""A number with fewer digits reveals little, and is nearly always a size or an index."""
_NO_END = (2**63 - 1, 2**31 - 1)
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
    """The user's constants that the graphs of a report hold.

    Parameters
    ----------
    nodes
        The graphs' nodes, as plain data.
    is_custom
        Whether an operator, given its target, is not torch's.
    """

    def __init__(self, nodes: Iterable[dict[str, Any]], is_custom: Callable[[str], bool]) -> None:
        self.texts: set[str] = set()
        whole: set[int] = set(_NO_END)
        numbers: set[int] = set()
        for node in nodes:
            args = node["args"]
            for side in ("shape", "stride"):
                whole.update(int(size) for size in node.get(side) or () if size.isdecimal())
            if _KERNEL_OF_THE_USERS in node["target"]:
                continue
            texts = set(quoted(args))
            self.texts |= texts if is_custom(node["target"]) else texts - MODES
            numbers.update(int(literal) for literal in _WHOLE.findall(args))
        listed = "|".join(map(str, sorted(numbers - whole, reverse=True)))
        self._numbers = (
            re.compile(rf"(?<![\w.])(?:{listed})(?=[uUlL]*(?:[^\w.]|$))") if listed else None
        )

    def left_out(self, text: str) -> str:
        """A graph's text or generated code without the constants."""
        text = _FLOAT.sub(_plain_or_out, text)
        return self._numbers.sub(_OUT, text) if self._numbers is not None else text

    def left_out_of_assembly(self, text: str) -> str:
        """Assembly without the constants, which are written as bits there."""
        return self.left_out(_BITS.sub(_OUT, text))

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


def _plain_or_out(match: re.Match[str]) -> str:
    return match.group() if float(match.group(1)) in _TELLS_NOTHING else _OUT
