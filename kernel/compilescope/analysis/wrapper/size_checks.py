"""A wrapper's checks of its inputs and of tensors that an operator returned."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..text.brackets import closing, split_list

_CHECK = re.compile(r"assert_(?:size_stride(?P<several>_grouped)?|tensor_metadata)\(")
_MIN_ARGUMENTS = 3


class SizeCheck(NamedTuple):
    """One tensor that a statement checks."""

    tensor: str
    shape: list[str]
    strides: list[str]
    is_input: bool
    """Whether it is one of the wrapper's inputs; otherwise an operator returned it."""


def size_checks(statement: str) -> list[SizeCheck]:
    """The sizes and strides that a statement checks, by tensor.

    Since torch 2.15 one statement (``assert_size_stride_grouped``) checks all inputs that a kernel
    is the first to use; the C++ wrapper has a separate statement for each.

    Parameters
    ----------
    statement
        A statement of either wrapper, on one line.

    Returns
    -------
    list of SizeCheck
        In the order of the statement; empty if it checks something else, or nothing. Numbers are as
        written: C++ has an L after them.
    """
    match = _CHECK.search(statement)
    if not match:
        return []
    start = match.end() - 1
    parts = split_list(statement[start + 1 : closing(statement, start) - 1])
    if len(parts) < _MIN_ARGUMENTS:
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
    """The items of a tuple, or of its C++ counterpart."""
    return split_list(text.strip()[1:-1])
