"""Temporarily replaces attributes of classes and modules.

A patch affects the whole process, so a replacement must check a context variable and call the
original for calls from other contexts. Several contexts may hold the same patch at once; the last
one to leave restores the original.
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
    """Makes ``owner.name(self, ...)`` call ``replacement(original, self, ...)`` in the block.

    For a static or class method, the replacement gets neither ``self`` nor ``cls``: the
    ``original`` that it gets is already bound to the class, or to the subclass of the call.
    """
    key = (owner, name)
    with _lock:
        if not _held.get(key):
            _originals[key] = vars(owner)[name]
            setattr(owner, name, _replaced(_originals[key], getattr(owner, name), replacement))
        _held[key] = _held.get(key, 0) + 1
    try:
        yield
    finally:
        with _lock:
            _held[key] -= 1
            if not _held[key]:
                setattr(owner, name, _originals.pop(key))
                del _held[key]


def _replaced(current: Any, original: Callable[..., Any], replacement: Callable[..., Any]) -> Any:
    """The replacement for ``current``, the entry in the owner's dictionary."""
    if isinstance(current, classmethod):
        function = current.__func__

        @functools.wraps(function)
        def call_of_class(cls: type, *args: Any, **kwargs: Any) -> Any:
            return replacement(functools.partial(function, cls), *args, **kwargs)

        return classmethod(call_of_class)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return replacement(original, *args, **kwargs)

    return staticmethod(call) if isinstance(current, staticmethod) else call
