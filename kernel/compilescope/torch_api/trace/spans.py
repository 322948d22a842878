"""Records spans of compile time that torch does not record, in an inspection's compilations.

torch times its stages, but not its caches, the individual runs of the C++ compiler, or tasks of
compile threads. While `timed` is on, the functions below are timed too, and their spans join
torch's own in the trace. Outside of it nothing is patched, so there is no overhead.

Relies on ``torch._inductor.cpp_builder.CppBuilder`` (build, _preprocessing, _precompiling,
_compile_only, _name), ``torch._inductor.async_compile.AsyncCompile.submit`` and the cache methods
in `_FUNCTIONS`. Functions that a version lacks are not timed.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch._guards import CompileContext

from ..process.patching import patched
from .record_names import CHROMIUM_EVENT
from .trace import Event, Sink, carrying, current_sink

_FUNCTIONS = (
    ("torch._inductor.codecache", "FxGraphCache", "prepare_key"),
    ("torch._inductor.codecache", "FxGraphCache", "_lookup_graph"),
    ("torch._inductor.codecache", "FxGraphCache", "_save_graph"),
    ("torch._functorch._aot_autograd.autograd_cache", "AOTAutogradCache", "_lookup"),
    ("torch._functorch._aot_autograd.autograd_cache", "AOTAutogradCache", "save"),
    ("torch._inductor.codecache", "PyCodeCache", "write"),
    ("torch._inductor.codecache", "CppCodeCache", "_load_library"),
)


@contextlib.contextmanager
def timed() -> Iterator[None]:
    """Adds spans that torch does not record to this context's trace."""
    with contextlib.ExitStack() as stack:
        for module, owner, name in _FUNCTIONS:
            patched_owner = _owner(module, owner, name)
            if patched_owner is not None:
                span = functools.partial(_timed, f"{owner}.{name}")
                stack.enter_context(patched(patched_owner, name, span))
        builder = _owner("torch._inductor.cpp_builder", "CppBuilder", "build")
        if builder is not None:
            stack.enter_context(patched(builder, "build", _build))
        compiler = _owner("torch._inductor.async_compile", "AsyncCompile", "submit")
        if compiler is not None:
            stack.enter_context(patched(compiler, "submit", _submit))
        yield


def _owner(module: str, owner: str, name: str) -> type | None:
    try:
        attribute = getattr(importlib.import_module(module), owner, None)
    except ImportError:
        return None
    return attribute if isinstance(attribute, type) and name in vars(attribute) else None


def _timed(name: str, original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    sink = current_sink()
    if sink is None:
        return original(*args, **kwargs)
    with _span(sink, name, ""):
        return original(*args, **kwargs)


def _build(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """One run of the C++ compiler, named after its purpose."""
    sink = current_sink()
    if sink is None:
        return original(self, *args, **kwargs)
    with _span(sink, f"CppBuilder.{_task(self)}", Path(str(getattr(self, "_name", ""))).name):
        return original(self, *args, **kwargs)


def _task(builder: Any) -> str:
    if getattr(builder, "_preprocessing", False):
        return "preprocess_header"
    if getattr(builder, "_precompiling", False):
        return "precompile_header"
    if getattr(builder, "_compile_only", False):
        return "compile"
    sources = str(getattr(builder, "_sources_args", ""))
    return "compile_and_link" if ".cpp" in sources else "link"


def _submit(original: Callable[..., Any], task: Callable[..., Any]) -> Any:
    """Sends the events of a compile thread's task to the listener of the submitting thread."""
    return original(carrying(task))


@contextlib.contextmanager
def _span(sink: Sink, name: str, detail: str) -> Iterator[None]:
    owner, metadata = identity(CHROMIUM_EVENT, {})
    arguments = {"compile_id": owner} | ({"compilescope_detail": detail} if detail else {})

    def send(kind: str) -> None:
        now = time.time_ns()
        payload = {"name": name, "ph": kind, "ts": now / 1e3, "args": arguments}
        sink(Event(metadata, json.dumps(payload), now / 1e9, threading.get_ident()))

    send("B")
    try:
        yield
    finally:
        send("E")


def identity(event: str, detail: Any, owner: Any = None) -> tuple[str, dict[str, Any]]:
    """The current compile id (or ``owner``) as text, and the metadata of an event with it."""
    owner = owner or CompileContext.current_compile_id()
    metadata: dict[str, Any] = {event: detail}
    if owner is not None and owner.frame_id is not None:
        metadata |= {
            "frame_id": owner.frame_id,
            "frame_compile_id": owner.frame_compile_id,
            "attempt": 0,
        }
    return str(owner), metadata
