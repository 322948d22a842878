"""Replies in parts: no message over the comm is longer than a megabyte."""

from __future__ import annotations

import json
from collections.abc import Iterator


def split(text: str, limit: int) -> Iterator[str]:
    """The pieces of a text, in order, each at most ``limit`` bytes as a JSON string.

    A quote, a line break or a letter outside of ASCII is longer there than in the text.
    """
    start = 0
    while start < len(text):
        size = limit
        while (length := len(json.dumps(text[start : start + size]))) > limit and size > 1:
            # What is long may stand at the piece's beginning: close in on it.
            size = max(1, min(size, len(text) - start) * limit // length)
        yield text[start : start + size]
        start += size
