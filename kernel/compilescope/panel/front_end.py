"""Sends the front end to a notebook, compressed and in parts."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256

from ..comms.messages import PART_BYTES, PagePart

_PIECE_BYTES = PART_BYTES // 4 * 3
"""Some hosts pass buffers in base64, which is a third longer."""


class Page:
    """A page of HTML.

    Parameters
    ----------
    text
        The page. It is compressed at the first request.

    Attributes
    ----------
    key
        The same for the same page: a notebook asks for each page once.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.key = sha256(text.encode()).hexdigest()[:16]

    def parts(self) -> Iterator[tuple[PagePart, bytes]]:
        """The page in parts, none longer than what the comms carry in one message."""
        packed = _compressed(self._text)
        pieces = [packed[at : at + _PIECE_BYTES] for at in range(0, len(packed), _PIECE_BYTES)]
        for part, piece in enumerate(pieces):
            yield PagePart(key=self.key, part=part, parts=len(pieces)), piece


@lru_cache(maxsize=1)
def _compressed(text: str) -> bytes:
    """One at a time is kept: the connected panels of a kernel all show the same page."""
    return gzip.compress(text.encode(), 9, mtime=0)
