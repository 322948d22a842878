"""Whose turn it is: the thread that works, or the one that answers the panel."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..torch_api.codegen import free_to_compile

SWITCH_S = 0.0005
"""How long Python lets a thread go on when another one has something to do. With the usual 5 ms, a
request that meets code which keeps Python's lock waits so long at each of the dozen steps by which
it is answered. A sample that nobody disturbs does not notice."""

_PATIENCE_S = 60.0
_CHANCE_S = 0.0001


@contextmanager
def responsive() -> Iterator[None]:
    """In the block, other threads get their turn soon."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(min(before, SWITCH_S))
    try:
        yield
    finally:
        sys.setswitchinterval(before)


@contextmanager
def undisturbed() -> Iterator[None]:
    """In the block no other thread generates sources; who waits to do so is next.

    It would take time from what is measured. And while torch traces a graph, in whatever thread, it
    has what is compiled refuse to be called.
    """
    with free_to_compile(_PATIENCE_S):
        yield
    # A lock that is taken again at once leaves nobody else a chance.
    time.sleep(_CHANCE_S)
