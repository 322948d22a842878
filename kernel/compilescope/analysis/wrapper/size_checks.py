"""A wrapper's checks of the tensors that it is given or that an operator made."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..text.brackets import closing, split_list

_CHECK = re.compile(r"assert_(?:size_stride(?P<several>_grouped)?|tensor_metadata)\(")
_LEAST = 3


class SizeCheck(NamedTuple):
    """One tensor that a statement checks."""

    tensor: str
    shape: list[str]
    strides: list[str]
    is_input: bool
    """Whether it is one of the wrapper's arguments; else an operator made it."""


def size_checks(statement: str) -> list[SizeCheck]:
    """What a statement checks of sizes and strides, by tensor.

    Since torch 2.15 one statement checks all inputs that a kernel is the first to use
    (``assert_size_stride_grouped``), each of them by what the C++ wrapper checks in one of its own.

    Parameters
    ----------
    statement
        On one line, of either wrapper.

    Returns
    -------
    list of SizeCheck
        In the order of the statement; none if it checks something else, or nothing. Numbers as
        they stand there: C++ has an L after them.
    """
    match = _CHECK.search(statement)
    if not match:
        return []
    start = match.end() - 1
    parts = split_list(statement[start + 1 : closing(statement, start) - 1])
    if len(parts) < _LEAST:
        return []
    columns = (
        [items_of(part) for part in parts[:3]] if match["several"] else [[p] for p in parts[:3]]
    )
    is_input = parts[-1] in ("'input'", '"input"')
    return [
        SizeCheck(tensor, items_of(shape), items_of(strides), is_input)
        for tensor, shape, strides in zip(*columns, strict=False)
    ]


def items_of(text: str) -> list[str]:
    """The items of a tuple, or of what stands for one in C++."""
    return split_list(text.strip()[1:-1])
