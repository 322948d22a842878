"""Packs a large report's JSON for a page: stores each distinct line once, compressed."""

from __future__ import annotations

import gzip
from base64 import b64encode

LARGE = 4 << 20
"""The number of characters from which a page stores its report packed."""
_LINE_END = r"\n"
"""A line end as JSON writes it."""


def packed(text: str) -> str:
    """JSON as `src/model/file/packed.ts` reads it.

    Graphs, code, kernels and torch's log repeat the same lines, farther apart than gzip's window.
    So each distinct piece between two line ends is written once. A line before them has the indices
    of the pieces in order, each as its difference from the last.
    """
    numbers: dict[str, int] = {}
    order = [numbers.setdefault(piece, len(numbers)) for piece in text.split(_LINE_END)]
    steps = ",".join(str(new - old) for old, new in zip([0, *order], order, strict=False))
    whole = f"{steps}\n{_LINE_END.join(numbers)}"
    return b64encode(gzip.compress(whole.encode(), 6, mtime=0)).decode()
