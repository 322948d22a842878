"""Suspends Python's garbage collector."""

from __future__ import annotations

import gc
from _thread import allocate_lock
from collections.abc import Iterator
from contextlib import contextmanager

_lock = allocate_lock()
"""`threading.Lock`, whose module takes longer to import than a small trace to read."""
_blocks = 0
_was_on = False


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Disables garbage collection in the block; blocks of several threads may overlap.

    With torch loaded, a full collection takes tenths of a second. It may occur in the call that is
    being timed, or delay sources that the panel waits for.
    """
    global _blocks, _was_on
    with _lock:
        if not _blocks:
            _was_on = gc.isenabled()
            gc.disable()
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks and _was_on:
                gc.enable()
