"""Restores Dynamo's process-wide state after an inspection.

Compiling a function leaves marks: cache entries on code objects (which count towards the recompile
limit), frame counters, the sizes that automatic dynamic shapes remembers, the names of dynamic
floats that became constants, metrics. With `isolated` an inspection leaves none of them.

Relies on ``torch._dynamo.convert_frame`` (FRAME_COUNTER, FRAME_COMPILE_COUNTER, compile_lock,
bytecode hooks), ``torch._dynamo.pgo`` (_CODE_STATE, _INIT_CODE_STATE), ``torch._dynamo.eval_frame``
(reset_code, cached_backends, _debug_get_cache_entry_list), ``torch._dynamo.utils`` (counters,
metrics, CleanupManager, orig_code_map), ``torch._dynamo.symbolic_convert.TensorifyState`` and
``torch._inductor.metrics`` (its counts and lists). Names that a version lacks are left alone.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch._dynamo.utils as dynamo_utils
from torch._C._dynamo.eval_frame import _debug_get_cache_entry_list, reset_code
from torch._dynamo import convert_frame, eval_frame, pgo
from torch._dynamo.convert_frame import compile_lock
from torch._dynamo.symbolic_convert import TensorifyState

from ..trace import log_compile_ids
from ..trace.log_compile_ids import FIRST_FRAME
from . import leftover_globals, retained_memory
from .kept_code import KeptCode


@contextlib.contextmanager
def isolated(kept_code: KeptCode | None = None) -> Iterator[None]:
    """Restores Dynamo's process-wide state after the compilations in the block.

    Cache entries live on code objects: the caller lets its functions run copies of their code
    (`isolation.code_swap`). Dynamo may also compile code that was not copied, such as a library's
    function after a graph break; its entries are cleared afterwards if it had none before.

    Parameters
    ----------
    kept_code
        The copies whose entries stay; it keeps what belongs to them for the next block.
    """
    kept_code = kept_code or KeptCode()
    with contextlib.ExitStack() as stack:
        stack.enter_context(retained_memory.forgotten())
        stack.enter_context(retained_memory.settled(kept_code.finalizers))
        stack.enter_context(_counters())
        stack.enter_context(_automatic_dynamic())
        stack.enter_context(_constant_floats())
        stack.enter_context(_backends())
        stack.enter_context(leftover_globals.removed())
        stack.enter_context(_foreign_code(kept_code))
        yield


def begin() -> None:
    """Starts a variant as in a fresh process, inside `isolated`.

    Forgets the sizes seen so far, and which floats became constants.
    """
    log_compile_ids.restart_numbering()
    with compile_lock:
        TensorifyState.clear()
    if hasattr(pgo, "_CODE_STATE"):
        pgo._CODE_STATE = collections.defaultdict(pgo.CodeState)


@contextlib.contextmanager
def _foreign_code(kept_code: KeptCode) -> Iterator[None]:
    """Clears the cache entries of code that this thread compiled first in the block.

    Also removes the globals that Dynamo installed for them in the user's modules
    (``__resume_at_…``): Dynamo itself removes those of a frame with a graph break only in
    `torch._dynamo.reset`.
    """
    clean: dict[int, types.CodeType] = {}
    seen: set[int] = set()
    thread = threading.get_ident()
    globals_before = dict(dynamo_utils.CleanupManager.instance.refs)

    def hook(code: types.CodeType, new_code: types.CodeType) -> None:
        # Called before Dynamo stores the entry: entries that exist now are older than the block.
        if threading.get_ident() != thread:
            return
        kept_code.note_compiled(code, new_code)
        if id(code) not in seen:
            seen.add(id(code))
            if not _debug_get_cache_entry_list(code):
                clean[id(code)] = code

    handle = convert_frame.register_bytecode_hook(hook)
    kept_code.restore_globals()
    try:
        yield
    finally:
        handle.remove()
        for code in clean.values():
            if kept_code.has(code):
                kept_code.add_compiled(code)
            else:
                reset_code(code)
        _remove_globals(globals_before, clean, kept_code)
        kept_code.clear_away()


def _remove_globals(
    before: dict[int, Any], originals: dict[int, types.CodeType], kept_code: KeptCode
) -> None:
    """Runs the cleanups that Dynamo has registered since ``before`` for code compiled from these.

    For code compiled from kept code, ``kept_code`` takes over the cleanups and their globals.
    """
    manager = dynamo_utils.CleanupManager.instance
    for key, reference in list(manager.refs.items()):
        compiled_code = reference() if reference is not before.get(key) else None
        original = (
            dynamo_utils.orig_code_map.get(compiled_code) if compiled_code is not None else None
        )
        if compiled_code is None or original is None:
            continue
        if kept_code.has(original):
            cleanups, manager[compiled_code] = manager[compiled_code], []
            kept_code.take_over_globals(compiled_code, cleanups)
        elif id(original) in originals:
            cleanups, manager[compiled_code] = manager[compiled_code], []
            for cleanup in cleanups:
                cleanup()


_next_frame = FIRST_FRAME
"""The first frame number of the next inspection."""


@contextlib.contextmanager
def _counters() -> Iterator[None]:
    global _next_frame
    frame_counter = convert_frame.FRAME_COUNTER
    compile_counter = copy.copy(convert_frame.FRAME_COMPILE_COUNTER)
    # Some code (torch's own, resume functions) keeps its first frame number, so no number may be
    # used twice, neither one of the user's frames nor one of an earlier inspection.
    convert_frame.FRAME_COUNTER = max(_next_frame, frame_counter)
    try:
        with uncounted(), log_compile_ids.shown():
            yield
    finally:
        _next_frame = convert_frame.FRAME_COUNTER
        convert_frame.FRAME_COUNTER = frame_counter
        convert_frame.FRAME_COMPILE_COUNTER.clear()
        convert_frame.FRAME_COMPILE_COUNTER.update(compile_counter)


@contextlib.contextmanager
def uncounted() -> Iterator[None]:
    """Keeps compilations in the block out of torch's counters, times and metrics."""
    restores = [*(_saved(value) for value in _process_wide()), _inductor_metrics()]
    try:
        yield
    finally:
        for restore in restores:
            restore()


def _process_wide() -> list[Any]:
    """The containers with Dynamo's counts for this process."""
    names = (
        "counters",
        "compilation_time_metrics",
        "cumulative_time_spent_ns",
        "guard_failures",
        "graph_break_reasons",
        "_compilation_metrics",
    )
    containers = [getattr(dynamo_utils, name, None) for name in names]
    return [value for value in containers if value is not None]


def _inductor_metrics() -> Callable[[], None]:
    """Saves Inductor's counts and lists; returns a function that restores them."""
    from torch._inductor import metrics

    counts = {name: value for name, value in vars(metrics).items() if type(value) is int}
    lists = [_saved(value) for value in vars(metrics).values() if type(value) is list]

    def restore() -> None:
        vars(metrics).update(counts)
        for restore_list in lists:
            restore_list()

    return restore


def _saved(container: Any) -> Callable[[], None]:
    """Saves a container's contents; returns a function that restores them."""
    if isinstance(container, dict):
        before = {
            key: copy.copy(value) if isinstance(value, (dict, list, collections.Counter)) else value
            for key, value in container.items()
        }

        def restore() -> None:
            container.clear()
            container.update(before)

    else:
        items = list(container)

        def restore() -> None:
            container.clear()
            container.extend(items)

    return restore


@contextlib.contextmanager
def _automatic_dynamic() -> Iterator[None]:
    """Restores the sizes that automatic dynamic shapes remembers after the block."""
    names = ("_CODE_STATE", "_INIT_CODE_STATE")
    before = {name: getattr(pgo, name) for name in names if hasattr(pgo, name)}
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(pgo, name, value)


@contextlib.contextmanager
def _constant_floats() -> Iterator[None]:
    """Restores the names of dynamic floats that torch makes constants from now on.

    A later compilation would make floats of the same names constants, too. A thread that generates
    code sets the names of its own while it holds the lock.
    """
    with compile_lock:
        before = set(TensorifyState.force_specializations)
    try:
        yield
    finally:
        with compile_lock:
            TensorifyState.force_specializations = before


@contextlib.contextmanager
def _backends() -> Iterator[None]:
    """Drops the references that Dynamo keeps to the block's backends."""
    cached = getattr(eval_frame, "cached_backends", {})
    before = set(cached)
    try:
        yield
    finally:
        for key in set(cached) - before:
            del cached[key]
