"""Takes over a packed call's own operators and source texts in the process that received it.

The packing side is `packed_call`.
"""

from __future__ import annotations

import linecache
import pickle
from collections.abc import Mapping

from ..torch_api.operators import custom

_defined: dict[str, bytes] = {}
"""Operator → its current pickled definition."""


def define_operator(name: str, definition: bytes) -> None:
    """Defines an operator here, unless it has this definition already.

    Raises what its definition raises, which is the user's code.
    """
    if _defined.get(name) != definition:
        custom.define(pickle.loads(definition))
        _defined[name] = definition


def remember_texts(files: Mapping[str, str]) -> None:
    """Enters files into Python's cache of lines, such that no look at the disk removes them."""
    for name, text in files.items():
        linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
