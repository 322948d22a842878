"""Records how kernels are compiled, loaded and first run, in an inspection's compilations.

While `watched` is on, the steps below are logged as artifacts of the trace (`KERNEL_LOAD`), which
`analysis.kernels.loads` reads. Outside of it nothing is patched, so there is no overhead.

Relies on ``torch._inductor.codecache`` (_worker_compile_cpp; CppCodeCache and
CppPythonBindingsCodeCache._load_library_inner, whose libraries carry their ``key``;
PyCodeCache.load_by_key_path) and on ``torch._inductor.runtime.triton_heuristics.CachingAutotuner``
(_precompile_worker, _make_launchers, autotune_to_one_config, run, inductor_meta, compile_results,
launchers, compile_id): the same from 2.11 to 2.15. From 2.12 on a C++ wrapper calls the latter too,
at a kernel's first launch.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch._guards import CompileContext
from torch._inductor import codecache

from ..process import triton_autotuner
from ..process.patching import patched
from ..trace.artifact_names import ENTRY, KERNEL_LOAD
from ..trace.spans import identity
from ..trace.trace import Event, Sink, current_sink


@contextlib.contextmanager
def watched(modules: list[types.ModuleType]) -> Iterator[None]:
    """Logs the loading of kernels in the block to this context's trace.

    Parameters
    ----------
    modules
        Generated modules in which the first launch of each C++ kernel is timed too. Modules that
        are loaded in the block are added.
    """
    launches = _Launches()
    for module in modules:
        launches.time(module)

    def loaded(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        module = original(*args, **kwargs)
        sink = current_sink()
        if sink is not None and isinstance(module, types.ModuleType):
            _log_step(sink, "module", start=time.time(), us=0.0, keys=_keys(module))
            modules.append(module)
            launches.time(module)
        return module

    with contextlib.ExitStack() as stack:
        # Undone last: until then the user's kernels are called through it.
        stack.callback(launches.restore)
        stack.enter_context(patched(codecache, "_worker_compile_cpp", _compiled_cpp))
        for owner in (codecache.CppCodeCache, codecache.CppPythonBindingsCodeCache):
            if "_load_library_inner" in vars(owner):
                stack.enter_context(patched(owner, "_load_library_inner", _loaded_cpp))
        stack.enter_context(patched(codecache.PyCodeCache, "load_by_key_path", loaded))
        tuner = triton_autotuner.autotuner()
        if tuner is not None:
            run = _Runs()
            for name, observer in (
                ("_precompile_worker", _compiled_triton),
                ("_make_launchers", _loaded_triton),
                ("autotune_to_one_config", _tuned),
                ("run", run),
            ):
                stack.enter_context(patched(tuner, name, observer))
        yield


def _keys(module: types.ModuleType) -> dict[str, str]:
    """Kernel → the key of its library."""
    return {
        name: str(key)
        for name, value in vars(module).items()
        if isinstance(value, types.BuiltinFunctionType)
        and (key := getattr(value.__self__, "key", None)) is not None
    }


class _Launches:
    """Times the first launch of each C++ kernel of generated modules."""

    def __init__(self) -> None:
        self._before: list[tuple[types.ModuleType, str, Any]] = []

    def time(self, module: types.ModuleType) -> None:
        """Replaces a module's kernels by timers."""
        for name, key in _keys(module).items():
            if name != ENTRY:
                function = vars(module)[name]
                self._before.append((module, name, function))
                setattr(module, name, _timer(function, name, key))

    def restore(self) -> None:
        """Restores the kernels."""
        for module, name, function in reversed(self._before):
            setattr(module, name, function)


def _timer(function: Callable[..., Any], name: str, key: str) -> Callable[..., Any]:
    is_timed = False

    def launch(*args: Any) -> Any:
        nonlocal is_timed
        sink = current_sink()
        if is_timed or sink is None:
            return function(*args)
        is_timed = True
        with _step(sink, "run", kernel=name, key=key):
            return function(*args)

    return launch


def _compiled_cpp(
    original: Callable[..., Any], lock_path: str, builders: Any, *args: Any, **kwargs: Any
) -> Any:
    sink = current_sink()
    if sink is None or Path(builders[-1].get_target_file_path()).exists():
        return original(lock_path, builders, *args, **kwargs)
    with _step(sink, "compile", key=Path(lock_path).stem):
        return original(lock_path, builders, *args, **kwargs)


def _loaded_cpp(
    original: Callable[..., Any], path: str, key: str, *args: Any, **kwargs: Any
) -> Any:
    sink = current_sink()
    if sink is None:
        return original(path, key, *args, **kwargs)
    with _step(sink, "load", key=key):
        return original(path, key, *args, **kwargs)


def _compiled_triton(original: Callable[..., Any], tuner: Any, *args: Any, **kwargs: Any) -> Any:
    sink = current_sink()
    if sink is None:
        return original(tuner, *args, **kwargs)
    if tuner.compile_results:  # compiled by another process, or found in a cache
        _log_step(sink, "compiled", owner=tuner, start=time.time(), us=0.0)
        return original(tuner, *args, **kwargs)
    with _step(sink, "compile", owner=tuner):
        return original(tuner, *args, **kwargs)


def _loaded_triton(original: Callable[..., Any], tuner: Any, *args: Any, **kwargs: Any) -> Any:
    sink = current_sink()
    if sink is None or len(tuner.launchers) == len(tuner.compile_results):
        return original(tuner, *args, **kwargs)
    with _step(sink, "load", owner=tuner):
        return original(tuner, *args, **kwargs)


def _tuned(original: Callable[..., Any], tuner: Any, *args: Any, **kwargs: Any) -> Any:
    sink = current_sink()
    if sink is None:
        return original(tuner, *args, **kwargs)
    with _step(sink, "autotune", owner=tuner):
        return original(tuner, *args, **kwargs)


class _Runs:
    """Times the first launch of each Triton kernel in a block."""

    def __init__(self) -> None:
        self._reported: set[int] = set()

    def __call__(self, original: Callable[..., Any], tuner: Any, *args: Any, **kwargs: Any) -> Any:
        sink = current_sink()
        if sink is None or id(tuner) in self._reported or kwargs.get("benchmark_run"):
            return original(tuner, *args, **kwargs)
        self._reported.add(id(tuner))
        with _step(sink, "run", owner=tuner):
            return original(tuner, *args, **kwargs)


@contextlib.contextmanager
def _step(
    sink: Sink, what: str, *, owner: Any = None, kernel: str = "", key: str = ""
) -> Iterator[None]:
    start, start_counter = time.time(), time.perf_counter()
    try:
        yield
    finally:
        us = (time.perf_counter() - start_counter) * 1e6
        _log_step(sink, what, owner=owner, kernel=kernel, key=key, start=start, us=us)


def _log_step(
    sink: Sink,
    what: str,
    *,
    start: float,
    us: float,
    owner: Any = None,
    kernel: str = "",
    key: str = "",
    keys: dict[str, str] | None = None,
) -> None:
    """Logs a step; for a Triton kernel, ``owner`` is its autotuner."""
    compile_id = None
    if owner is not None:
        kernel = str((getattr(owner, "inductor_meta", None) or {}).get("kernel_name") or "")
        key = f"{kernel} {id(owner)}"
        compile_id = getattr(owner, "compile_id", None)
    _, metadata = identity("artifact", {"name": KERNEL_LOAD, "encoding": "json"}, compile_id)
    facts = {
        "what": what,
        "kernel": kernel,
        "key": key,
        "keys": keys or {},
        "start_s": start,
        "us": us,
        "triton": owner is not None,
        "compiling": CompileContext.current_compile_id() is not None,
        "thread": threading.current_thread() is not threading.main_thread(),
    }
    sink(Event(metadata, json.dumps(facts), time.time(), threading.get_ident()))
