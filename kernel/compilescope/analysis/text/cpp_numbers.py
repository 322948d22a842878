"""Whole numbers as torch writes them in C++: ``8L``, and ``8LL`` on macOS and Windows."""

from __future__ import annotations

import re

SUFFIX = "L{0,2}"
"""A pattern for what may follow the digits."""
_SUFFIX = re.compile(r"(?<=\d)L{1,2}\b")


def without_suffixes(text: str) -> str:
    """C++ text with its whole numbers as Python writes them."""
    return _SUFFIX.sub("", text)
