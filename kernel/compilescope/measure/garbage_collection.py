"""Python's garbage collector, at rest."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_blocks = 0
_was_on = False


@contextmanager
def gc_disabled() -> Iterator[None]:
    """Collects no garbage in the block; blocks of several threads may overlap.

    With torch loaded one full collection takes tenths of a second, and falls on whatever happens to
    allocate: on the call that is being timed, or on sources that somebody waits for.
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
