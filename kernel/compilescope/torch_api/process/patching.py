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
    """Makes ``owner.name(self, ...)`` call ``replacement(original, self, ...)`` in the block.

    Of a static or class method, the replacement gets neither ``self`` nor ``cls``: what it is given
    as the original has the class already, a subclass where it was called on one.
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
    """What to put in the place of ``current``, as the owner's dictionary has it."""
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
