"""Attributes of classes and modules replaced for a while.

A patch is seen by the whole process, so a replacement must ask a context variable whether the call
is its own and else do what the original does. Several contexts may hold the same patch at once; the
original comes back when the last one lets go.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_lock = threading.Lock()
_held: dict[tuple[type | ModuleType, str], int] = {}
_originals: dict[tuple[type | ModuleType, str], Any] = {}


@contextmanager
def patched(owner: type | ModuleType, name: str, replacement: Callable[..., Any]) -> Iterator[None]:
    """Makes ``owner.name(self, ...)`` call ``replacement(original, self, ...)`` in the block."""
    key = (owner, name)
    with _lock:
        if not _held.get(key):
            _originals[key] = vars(owner)[name]
            original = getattr(owner, name)

            @functools.wraps(original)
            def call(*args: Any, **kwargs: Any) -> Any:
                return replacement(original, *args, **kwargs)

            setattr(owner, name, call)
        _held[key] = _held.get(key, 0) + 1
    try:
        yield
    finally:
        with _lock:
            _held[key] -= 1
            if not _held[key]:
                setattr(owner, name, _originals.pop(key))
                del _held[key]
