"""Receives torch's structured trace of the whole process while it is watched.

Unlike `trace.listening`, which serves one context's own compilation, this receives the events of
all the user's threads. It installs nothing before and leaves nothing behind.

Most of the overhead of tracing is avoidable: torch creates descriptions that nothing reads, and
writes every event as JSON and as a log record. So while there is no other listener, events are
intercepted at their source. Unread events are skipped, and spans and figures are serialized only
when needed. It relies on the name and the arguments of
``torch._logging._internal.trace_structured``, from 2.11 to 2.15; if it is called in another way,
torch's behavior is unchanged.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch._guards import CompileContext
from torch._logging import _internal

from .callers import with_caller
from .compile_calls import skip
from .raising import with_raising
from .record_names import CHROMIUM_EVENT, DYNAMO_START, METRICS
from .trace import Event, Handler, Sink, is_users_own, lock, raw

"""Receives a raw event; `trace.with_names` completes it later."""

_UNREAD = (
    "describe_storage",
    "describe_tensor",
    "describe_source",
    "fx_graph_runnable",
    "aot_forward_graph_fw_metadata",
    "torch._functorch.config",
)
_UNREAD_ENDS = ("_ORIGINAL_BYTECODE", "_MODIFIED_BYTECODE")
"""Nothing reads these, and some are long."""


def forward_trace_events(sink: Sink, failed: Callable[[Exception], None]) -> Callable[[], None]:
    """Sends the user's trace events of all threads to ``sink``; returns a function that stops it.

    Events of inspections and unread events are left out. ``sink`` runs within the user's
    compilation, so it must be fast. Its errors go to ``failed`` and never to the compilation.
    """
    handler = _Handler(sink, failed)
    with lock:
        _replace(_torchs_own, _trace)
        # First, for the reason given in `trace.listening`.
        _internal.trace_log.handlers.insert(0, handler)

    def stop() -> None:
        with lock:
            handlers = _internal.trace_log.handlers
            handlers[:] = [other for other in handlers if other is not handler]
            if not any(isinstance(other, _Handler) for other in handlers):
                # Also in modules that were imported meanwhile and got the replacement instead of
                # torch's.
                _replace(_trace, _torchs_own)

    return stop


_NAME = "trace_structured"
_torchs_own: Callable[..., None] = getattr(_internal, _NAME)


def _replace(function: Callable[..., None], other: Callable[..., None]) -> None:
    for module in _torchs_modules():
        if vars(module).get(_NAME) is function:
            setattr(module, _NAME, other)


def _torchs_modules() -> Iterator[types.ModuleType]:
    # A copy is one step; `list(...)` would let another thread import modules meanwhile.
    for name, module in sys.modules.copy().items():
        if name.startswith("torch.") and isinstance(module, types.ModuleType):
            yield module


def _none() -> None:
    """The default of torch for an event without a payload."""


@functools.wraps(_torchs_own)
def _trace(
    name: str,
    metadata_fn: Callable[[], Any] = dict,
    *,
    payload_fn: Callable[[], Any] = _none,
    suppress_context: bool = False,
    compile_id: Any = None,
    **options: Any,
) -> None:
    own_handlers: list[_Handler] = []
    for handler in _internal.trace_log.handlers:
        if isinstance(handler, _Handler):
            own_handlers.append(handler)
            continue
        _torchs_own(
            name,
            metadata_fn,
            payload_fn=payload_fn,
            suppress_context=suppress_context,
            compile_id=compile_id,
            **options,
        )
        return
    if name in _UNREAD:
        return
    context = None if suppress_context else CompileContext.try_get()
    for handler in own_handlers:
        handler.take(name, metadata_fn, payload_fn, context, compile_id)


skip(_trace)


@contextlib.contextmanager
def unseen_by(is_unwanted: Callable[[logging.Handler], bool]) -> Iterator[None]:
    """In the block, handlers of others that match get none of torch's events."""
    with lock:
        handlers = _internal.trace_log.handlers
        removed = [handler for handler in handlers if is_unwanted(handler)]
        handlers[:] = [handler for handler in handlers if handler not in removed]
    try:
        yield
    finally:
        with lock:
            handlers = _internal.trace_log.handlers
            handlers += [handler for handler in removed if handler not in handlers]


class _Handler(Handler):
    def __init__(self, sink: Sink, failed: Callable[[Exception], None]) -> None:
        super().__init__()
        self.sink = sink
        self.failed = failed
        self.process = os.getpid()

    def take(
        self,
        name: str,
        metadata_fn: Callable[[], Any],
        payload_fn: Callable[[], Any],
        context: CompileContext | None,
        compile_id: Any,
    ) -> None:
        """Handles an event directly, as `emit` handles its log record."""
        try:
            attempt = None
            if context is not None and context.compile_id is not None:
                compile_id, attempt = context.compile_id, context.attempt
            frame = None if compile_id is None else compile_id.frame_id
            # A forked child inherits the handler, but nothing there empties the list.
            if not is_users_own(frame) or os.getpid() != self.process:
                return
            later = metadata_fn if name in METRICS else None
            details = {} if later else metadata_fn()
            if name == "artifact" and _is_unread(details.get("name")):
                return
            metadata: dict[str, Any] = {name: details}
            if frame is not None:
                metadata["frame_id"] = frame
                metadata["frame_compile_id"] = compile_id.frame_compile_id
            if attempt is not None:
                metadata["attempt"] = attempt
            if name == DYNAMO_START:
                metadata = with_caller(metadata)
            metadata = with_raising(metadata)
            payload, unwritten = payload_fn(), None
            if name == CHROMIUM_EVENT:
                # torch modifies the arguments of some events afterwards.
                unwritten = {**payload, "args": dict(payload.get("args") or {})}
                payload = None
            elif payload is not None and not isinstance(payload, str):
                payload = _written(payload)
            self.sink(
                Event(metadata, payload, time.time(), threading.get_ident(), unwritten, later)
            )
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            self.failed(error)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = raw(record)
            if not is_users_own(event.metadata.get("frame_id")) or os.getpid() != self.process:
                return
            name = next(iter(event.metadata), "")
            details = event.metadata.get("artifact")
            artifact = details.get("name") if isinstance(details, dict) else None
            if name not in _UNREAD and not _is_unread(artifact):
                self.sink(event)
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            self.failed(error)


def _is_unread(artifact: Any) -> bool:
    return isinstance(artifact, str) and (artifact in _UNREAD or artifact.endswith(_UNREAD_ENDS))


def _written(payload: Any) -> str:
    """A payload as torch writes it to its log: each item of a list on its own line."""
    if isinstance(payload, list):
        return "[\n" + ",\n".join(json.dumps(item) for item in payload) + "\n]"
    return json.dumps(payload, default=_listed, indent=0)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, (set, frozenset)) else repr(value)
