"""Removes globals that Dynamo leaves in the user's modules when it restarts a frame.

An attempt that ends in a graph break has already installed names (``__builtins_dict___7``); Dynamo
removes them together with code that it then never creates. Relies on
``torch._dynamo.utils.CleanupHook`` and ``CleanupManager``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from torch._dynamo.utils import CleanupHook, CleanupManager

from ..process.patching import patched

Installed = list[tuple[dict[str, Any], str]]

_installed: ContextVar[Installed | None] = ContextVar("compilescope_installed", default=None)


@contextlib.contextmanager
def removed() -> Iterator[None]:
    """Removes the names that were installed in this context and that Dynamo never removes."""
    installed: Installed = []
    token = _installed.set(installed)
    try:
        with patched(CleanupHook, "create", _create):
            yield
    finally:
        _installed.reset(token)
        waiting = {
            (id(hook.scope), hook.name)
            for hooks in list(CleanupManager.instance.values.values())
            for hook in hooks
        }
        for scope, name in installed:
            if (id(scope), name) not in waiting:
                scope.pop(name, None)


def _create(original: Any, scope: dict[str, Any], name: str, value: Any) -> Any:
    installed = _installed.get()
    if installed is not None:
        installed.append((scope, name))
    return original(scope, name, value)
