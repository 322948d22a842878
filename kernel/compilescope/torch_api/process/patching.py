"""Temporarily replaces attributes of classes and modules.

A patch is seen by the whole process, so a replacement must ask a context variable whether the call
is its own and else do what the original does. Several contexts may hold the same patch at once, and
several patches of one attribute: the later one's original is then the earlier one. The original is
restored when the last patch is removed.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_lock = threading.Lock()
_held: dict[tuple[type | ModuleType, str], dict[Callable[..., Any], int]] = {}
"""Attribute → its replacements, the earliest first, with how many contexts hold each."""
_originals: dict[tuple[type | ModuleType, str], tuple[Any, Any]] = {}
"""Attribute → as the owner's dictionary has it, and as the owner gives it."""


@contextmanager
def patched(owner: type | ModuleType, name: str, replacement: Callable[..., Any]) -> Iterator[None]:
    """Makes ``owner.name(self, ...)`` call ``replacement(original, self, ...)`` in the block.

    For a static or class method, the replacement gets neither ``self`` nor ``cls``: the
    ``original`` that it gets is already bound to the class, or to the subclass of the call.
    """
    key = (owner, name)
    with _lock:
        if key not in _originals:
            _originals[key] = (vars(owner)[name], getattr(owner, name))
        holders = _held.setdefault(key, {})
        holders[replacement] = holders.get(replacement, 0) + 1
        if holders[replacement] == 1:
            setattr(owner, name, _replaced(*_originals[key], tuple(holders)))
    try:
        yield
    finally:
        with _lock:
            holders[replacement] -= 1
            if not holders[replacement]:
                del holders[replacement]
                if holders:
                    setattr(owner, name, _replaced(*_originals[key], tuple(holders)))
                else:
                    setattr(owner, name, _originals.pop(key)[0])
                    del _held[key]


def _replaced(
    current: Any, original: Callable[..., Any], replacements: tuple[Callable[..., Any], ...]
) -> Any:
    """What to put in the place of ``current``, as the owner's dictionary has it."""
    if isinstance(current, classmethod):
        function = current.__func__

        @functools.wraps(function)
        def call_of_class(cls: type, *args: Any, **kwargs: Any) -> Any:
            return _chain(functools.partial(function, cls), replacements)(*args, **kwargs)

        return classmethod(call_of_class)
    whole = _chain(original, replacements)

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        return whole(*args, **kwargs)

    return staticmethod(call) if isinstance(current, staticmethod) else call


def _chain(
    original: Callable[..., Any], replacements: tuple[Callable[..., Any], ...]
) -> Callable[..., Any]:
    """Each replacement around the one before it."""
    inner = original
    for replacement in replacements:
        inner = functools.partial(replacement, inner)
    return inner
