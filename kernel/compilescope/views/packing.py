"""A large report's JSON in a page: each line of its texts once, compressed."""

from __future__ import annotations

import gzip
from base64 import b64encode

LARGE = 4 << 20
"""From how many characters on a page holds its report packed."""
_LINE_END = r"\n"
"""As JSON writes it."""


def packed(text: str) -> str:
    """JSON as `src/model/file/packed.ts` reads it.

    The same lines stand in graphs, code, kernels and what torch logged, farther apart than gzip
    looks back. So each different piece between two line ends is written once. Before them, in a
    line of their own, stand the numbers of the pieces in their order, each as its difference from
    the last.
    """
    numbers: dict[str, int] = {}
    order = [numbers.setdefault(piece, len(numbers)) for piece in text.split(_LINE_END)]
    steps = ",".join(str(new - old) for old, new in zip([0, *order], order, strict=False))
    whole = f"{steps}\n{_LINE_END.join(numbers)}"
    return b64encode(gzip.compress(whole.encode(), 6, mtime=0)).decode()
