"""Torch's structured trace, live.

Relies on ``torch._logging._internal`` (``trace_log``) and ``torch._logging.structured``
(``INTERN_TABLE``); the same from 2.11 to 2.15.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import torch
from torch._logging import _internal, structured

from . import log_compile_ids
from .callers import with_caller
from .log_compile_ids import FIRST_FRAME
from .raising import with_raising


class Event(NamedTuple):
    """One event of the trace, from torch's logger."""

    metadata: dict[str, Any]
    """torch's metadata, with interned file names replaced by their text."""
    payload: str | None
    time_s: float
    thread: int
    unwritten: dict[str, Any] | None = None
    """The payload, if it is an object that is not serialized to JSON yet."""
    details: Callable[[], dict[str, Any]] | None = None
    """The function that computes the event's own metadata, if it was not called yet."""


Sink = Callable[[Event], None]

lock = threading.Lock()
"""Protects the trace's list of handlers: several threads may start and stop listening at once."""

_sink: ContextVar[Sink | None] = ContextVar("compilescope_sink", default=None)
_shared: ContextVar[bool] = ContextVar("compilescope_shared", default=False)
_inspections: set[logging.Handler] = set()


class Handler(logging.Handler):
    """The base of all handlers of compilescope."""


@contextmanager
def listening(sink: Sink, *, shared: bool = False) -> Iterator[None]:
    """Sends this context's trace events to ``sink`` while the block runs.

    Events of other Python threads belong to other compilations and are left out. Events of threads
    that Python did not start are autograd's, which compiles the backward of CUDA graphs on its own
    thread; they belong to this listener. Errors of ``sink`` do not reach the compilation: they are
    raised at the end of the block, unless the block raises an error itself.

    With ``shared`` the block runs the user's own code, so a watch of the process (`process_trace`)
    receives the events too.
    """
    handler = _Handler(sink, shared=shared)
    log = _internal.trace_log
    with lock:
        before = [other for other in log.handlers if not isinstance(other, Handler)]
        # First, because torch's own lazy handler removes itself during the first event, and the
        # logging module would then skip the next handler.
        log.handlers.insert(0, handler)
        if not shared:
            _inspections.add(handler)
    tokens = _sink.set(sink), _shared.set(shared)
    try:
        yield
    finally:
        _sink.reset(tokens[0])
        _shared.reset(tokens[1])
        with lock:
            _inspections.discard(handler)
            rest = [other for other in log.handlers if other is not handler and other not in before]
            # After the handlers of other active listeners, for the reason above.
            others = any(isinstance(other, Handler) for other in rest)
            log.handlers[:] = rest + before if others else before + rest
    if handler.failure is not None:
        raise handler.failure


def current_sink() -> Sink | None:
    """The sink of this context's trace events; None without a listener.

    On a thread that Python did not start, autograd's, it is the sink of the running inspection.
    """
    sink = _sink.get()
    if sink is None and _inspections and is_foreign():
        handler = next(iter(_inspections.copy()), None)
        return handler.sink if isinstance(handler, _Handler) else None
    return sink


def carrying(task: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a task for another thread so that its trace events go to this context's listener."""
    sink, shared = _sink.get(), _shared.get()
    if sink is None:
        return task

    def run(*args: Any, **kwargs: Any) -> Any:
        tokens = _sink.set(sink), _shared.set(shared)
        try:
            return task(*args, **kwargs)
        finally:
            _sink.reset(tokens[0])
            _shared.reset(tokens[1])

    return run


def is_users_own(frame: int | None) -> bool:
    """Whether the current event belongs to the user's own code and not to an inspection.

    ``frame`` is the frame's number, if there is one. The context identifies an inspection's events.
    In threads without that context (autograd's, and those that build kernels) the frame number
    does; without one, events belong to the running inspection, if any.
    """
    if _sink.get() is not None:
        return _shared.get()
    if frame is not None and frame >= FIRST_FRAME:
        return False
    return not _inspections or (frame is not None and not is_foreign())


def is_foreign() -> bool:
    """Whether Python did not start this thread."""
    return isinstance(threading.current_thread(), threading._DummyThread)


class _Handler(Handler):
    def __init__(self, sink: Sink, *, shared: bool) -> None:
        super().__init__()
        self.sink = sink
        self.shared = shared
        self.failure: Exception | None = None

    # Compiled autograd logs while Dynamo compiles whatever is called.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self._is_ours():
                event = raw(record)
                if not self.shared:
                    log_compile_ids.number_event(event.metadata)
                self.sink(with_names(event))
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            self.failure = self.failure or error

    def _is_ours(self) -> bool:
        current = _sink.get()
        if current is not None:
            return current is self.sink
        return is_foreign()


def raw(record: logging.LogRecord) -> Event:
    """The raw event of a log record; file names are still numbers."""
    return Event(
        metadata=with_raising(with_caller(getattr(record, "metadata", {}))),
        payload=getattr(record, "payload", None),
        time_s=record.created,
        thread=record.thread or 0,
    )


def with_names(event: Event) -> Event:
    """The complete event: file names as text, payload serialized, details computed."""
    payload, metadata = event.payload, event.metadata
    if event.unwritten is not None:
        payload = json.dumps(event.unwritten, default=repr)
    if event.details is not None:
        metadata = {**metadata, next(iter(metadata)): event.details()}
    return Event(_with_names(metadata), payload, event.time_s, event.thread)


def _with_names(value: Any) -> Any:
    """The metadata with interned file names replaced by their text.

    A frame's ``filename`` is an index into torch's intern table. torch sends each entry as an event
    only once per process, usually before anything listens.
    """
    if isinstance(value, dict):
        return {
            key: _file_name(item)
            if key == "filename" and isinstance(item, int)
            else _with_names(item)
            for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [_with_names(item) for item in value]
    return value


def _file_name(number: int) -> str:
    # Another thread that compiles adds names meanwhile.
    for name, file_id in list(structured.INTERN_TABLE.items()):
        if file_id == number:
            return str(name)
    return ""
