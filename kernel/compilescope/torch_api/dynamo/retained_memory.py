"""Frees what torch keeps of an inspection's compilations for the life of the process.

Each compilation of one subject adds to it: finalizers on the objects that guards match by identity,
the source of each graph module in ``linecache``, memos whose keys hold whole compilations, a
traceback for each metric that was set, a weak reference to code that no longer exists. Relies on
``torch._dynamo.guards`` (CheckFunctionManager.id_ref, ``guard_manager.cache_entry``, which torch
sets to None when it drops the compilation), ``torch.fx.graph_module`` (_loader.cache,
``eval_cache``), ``torch._dynamo.utils`` (get_metrics_context, its ``_edits``),
``torch._dynamo.convert_frame`` (the trackers' ``seen``) and the ``lru_cache`` functions in
`_MEMOS`. Names that a version lacks are left alone.
"""

from __future__ import annotations

import contextlib
import functools
import linecache
import sys
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from torch._dynamo import convert_frame, guards
from torch._dynamo import utils as dynamo_utils
from torch.fx import graph_module
from torch.fx.experimental import symbolic_shapes

from ..process.patching import patched

_MEMOS = (
    ("torch._dynamo.source", "is_from_skip_guard_source"),
    ("torch._inductor.codecache", "PyCodeCache.stack_frames_for_code"),
    ("torch._inductor.codegen.debug_utils", "DebugPrinterManager._get_debug_filtered_kernel_names"),
)
"""Memos that a compilation adds to. After they are cleared, torch computes their values again.
Those of ``torch.fx.experimental.symbolic_shapes.ShapeEnv`` do, too: all of its memos of methods,
whose keys hold the environment with all fake tensors of a compilation."""

_TRACKERS = ("input_codes", "output_codes")
"""Trackers in which torch notes what it compiled. Their references are weak, but are never
removed."""


class Finalizers:
    """The finalizers that guards put on the objects that they match by identity.

    A finalizer invalidates a compilation when such an object dies, and keeps its guards alive as
    long as the object lives: for ever if it is a module or a type.
    """

    def __init__(self) -> None:
        self._noted: list[tuple[Any, weakref.finalize[..., Any]]] = []

    def add(self, manager: Any, value: object) -> None:
        """Records the finalizer that a ``CheckFunctionManager`` has put on a value."""
        for reference in weakref.getweakrefs(value):
            finalizer = reference.__callback__
            if isinstance(finalizer, weakref.finalize) and _is_of(finalizer, manager):
                self._noted.append((manager, finalizer))

    def remove_dropped(self) -> None:
        """Removes the finalizers whose compilation torch has dropped."""
        noted, self._noted = self._noted, []
        for manager, finalizer in noted:
            guard_manager = getattr(manager, "guard_manager", None)
            if getattr(guard_manager, "cache_entry", None) is None:
                finalizer.detach()
            else:
                self._noted.append((manager, finalizer))


def _is_of(finalizer: weakref.finalize[..., Any], manager: Any) -> bool:
    state = finalizer.peek()
    called = state[1] if state is not None else None
    if isinstance(called, functools.partial):
        called = called.func
    return getattr(called, "__self__", None) is manager


_finalizers: ContextVar[Finalizers | None] = ContextVar("compilescope_finalizers", default=None)
_sources: ContextVar[list[str] | None] = ContextVar("compilescope_graph_sources", default=None)


@contextlib.contextmanager
def settled(finalizers: Finalizers) -> Iterator[None]:
    """Records finalizers of this context's compilations in the block; settles them afterwards."""
    token = _finalizers.set(finalizers)
    try:
        with patched(guards.CheckFunctionManager, "id_ref", _id_ref):
            yield
    finally:
        _finalizers.reset(token)
        finalizers.remove_dropped()


def _id_ref(original: Any, self: Any, value: object, *more: Any, **named: Any) -> Any:
    result = original(self, value, *more, **named)
    finalizers = _finalizers.get()
    if finalizers is not None:
        finalizers.add(self, value)
    return result


@contextlib.contextmanager
def forgotten() -> Iterator[None]:
    """Drops the memos, this thread's metric records and the sources of its graph modules.

    The modules can still be called; a traceback through one then shows no source line.
    """
    names: list[str] = []
    edits = _metric_edits()
    before = len(edits)
    token = _sources.set(names)
    try:
        with patched(type(graph_module._loader), "cache", _cache):
            yield
    finally:
        _sources.reset(token)
        for name in names:
            graph_module._loader.eval_cache.pop(name, None)
            linecache.cache.pop(name, None)
        del edits[before:]
        for tracker in _TRACKERS:
            seen = getattr(getattr(convert_frame, tracker, None), "seen", [])
            seen[:] = [reference for reference in seen if reference() is not None]
        for memo in _memos():
            if hasattr(memo, "cache_clear"):
                memo.cache_clear()


def _memos() -> Iterator[Any]:
    """Functions, some of which are memos."""
    for module, path in _MEMOS:
        memo: Any = sys.modules.get(module)
        for part in path.split("."):
            memo = getattr(memo, part, None)
        yield memo
    yield from vars(symbolic_shapes.ShapeEnv).values()


def _metric_edits() -> list[Any]:
    """Where each metric of this thread was set. torch never removes entries."""
    context: Any = getattr(dynamo_utils, "get_metrics_context", lambda: None)()
    edits = getattr(context, "_edits", None)
    return edits if isinstance(edits, list) else []


def _cache(original: Any, self: Any, *args: Any, **named: Any) -> str:
    name: str = original(self, *args, **named)
    names = _sources.get()
    if names is not None:
        names.append(name)
    return name
