"""The stored traces, for tests of what is read of them."""

from __future__ import annotations

import gzip
from pathlib import Path

TRACES = Path(__file__).parents[2] / "data" / "traces"


def text_of(name: str) -> bytes:
    """The log of a stored trace."""
    return gzip.decompress((TRACES / name).read_bytes())
