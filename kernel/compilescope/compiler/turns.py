"""Whose turn it is: the thread that works, or the one that answers the panel."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_S = 0.0005
"""How long Python lets a thread go on when another one has something to do. With the usual 5 ms,
each of the dozen steps by which the panel's request is answered would wait so long. A sample that
nobody disturbs does not notice."""


@contextmanager
def responsive() -> Iterator[None]:
    """In the block, other threads get their turn soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH_S))
    try:
        yield
    finally:
        sys.setswitchinterval(before)
