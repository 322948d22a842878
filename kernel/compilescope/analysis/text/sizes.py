"""Converts sizes as torch writes them, including symbols, to numbers."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence

from ...capture.records import Record
from ...torch_api.trace.record_names import CREATE_SYMBOL

Hints = Mapping[str, int]
"""Symbol → the value that it had when torch compiled."""

BYTES = {
    **dict.fromkeys(("bool", "uint8", "int8"), 1),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"), 1),
    **dict.fromkeys(("float8_e8m0fnu",), 1),
    **dict.fromkeys(("bfloat16", "float16", "int16", "uint16"), 2),
    **dict.fromkeys(("float32", "int32", "uint32", "complex32"), 4),
    **dict.fromkeys(("float64", "int64", "uint64", "complex64"), 8),
    "complex128": 16,
}
"""Bytes of one element."""

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {
    "Max": max,
    "Min": min,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "CeilDiv": lambda a, b: -(-a // b),
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "Identity": lambda a: a,
}
_MAX_POWER = 8


class UnknownSize(Exception):  # noqa: N818 - an answer, not a failure
    """A size that is not known."""


def read_hints(records: Sequence[Record]) -> dict[str, int]:
    """The values that torch took for the symbols of a compilation."""
    hints: dict[str, int] = {}
    for record in records:
        detail = record.metadata.get(CREATE_SYMBOL)
        if record.event == CREATE_SYMBOL and isinstance(detail, dict):
            value = str(detail.get("val"))
            if value.lstrip("-").isdigit():
                hints[str(detail.get("symbol"))] = int(value)
    return hints


def size_of(text: str, hints: Hints, used: dict[str, int]) -> int:
    """One size as a number.

    Parameters
    ----------
    text
        As torch writes it: ``64``, ``s0``, ``2*s0 + 1``.
    used
        The symbols that were needed, with their values, are added to it.

    Raises
    ------
    UnknownSize
        A symbol has no value before the program runs, or the expression is of another kind.
    """
    if text.isdigit():
        return int(text)
    try:
        tree = ast.parse(text, mode="eval").body
        return _value(tree, hints, used)
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, RecursionError) as error:
        raise UnknownSize(f"The size {text} cannot be evaluated.") from error


def count_of(shape: Sequence[str], hints: Hints, used: dict[str, int]) -> int:
    """The number of elements of a shape; raises as `size_of`."""
    return math.prod(size_of(size, hints, used) for size in shape)


def distinct_count(shape: Sequence[str], strides: Sequence[str], hints: Hints) -> int:
    """At most how many elements of a tensor are different places in memory; raises as `size_of`."""
    sizes = [size_of(size, hints, {}) for size in shape]
    steps = [size_of(stride, hints, {}) for stride in strides]
    if 0 in sizes:
        return 0
    pairs = list(zip(sizes, steps, strict=True))
    moving = math.prod(size for size, step in pairs if step)
    span = 1 + sum((size - 1) * step for size, step in pairs)
    return min(moving, span)


def _value(tree: ast.expr, hints: Hints, used: dict[str, int]) -> int:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return tree.value
    if isinstance(tree, ast.Name):
        if tree.id not in hints:
            raise UnknownSize(f"The size {tree.id} is known only when the program runs.")
        used[tree.id] = hints[tree.id]
        return hints[tree.id]
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -_value(tree.operand, hints, used)
    if isinstance(tree, ast.BinOp):
        left, right = _value(tree.left, hints, used), _value(tree.right, hints, used)
        if isinstance(tree.op, ast.Pow) and 0 <= right <= _MAX_POWER:
            return int(left**right)
        if type(tree.op) in _OPERATORS:
            return _OPERATORS[type(tree.op)](left, right)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        function = _FUNCTIONS.get(tree.func.id)
        if function is not None:
            return function(*(_value(argument, hints, used) for argument in tree.args))
    raise ValueError(ast.dump(tree))
