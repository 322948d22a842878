"""torch's structured trace, live.

Stands on ``torch._logging._internal`` (``trace_log``) and ``torch._logging.structured``
(``INTERN_TABLE``); the same from 2.11 to 2.15.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from torch._logging import _internal, structured


class Event(NamedTuple):
    """One event of the trace, as torch's logger has it."""

    metadata: dict[str, Any]
    """torch's own, with interned file names turned back into text."""
    payload: str | None
    time_s: float
    thread: int


Sink = Callable[[Event], None]

_lock = threading.Lock()
"""Over the trace's list of handlers: several threads may begin and end listening at once."""

_sink: ContextVar[Sink | None] = ContextVar("compilescope_sink", default=None)


@contextmanager
def listening(sink: Sink) -> Iterator[None]:
    """Sends this context's trace events to ``sink`` while the block runs.

    Events of other Python threads are somebody else's compilation and are left out; events of
    threads that Python did not start are autograd's, which compiles the backward of CUDA graphs on
    a thread of its own, and belong to the one that listens. Errors of ``sink`` do not reach the
    compilation: they are kept and raised when the block ends without an error of its own.
    """
    handler = _Handler(sink)
    log = _internal.trace_log
    with _lock:
        before = [other for other in log.handlers if not isinstance(other, _Handler)]
        # First, because torch's own lazy handler removes itself during the first event, and the
        # logging module would then skip the handler behind it.
        log.handlers.insert(0, handler)
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)
        with _lock:
            rest = [other for other in log.handlers if other is not handler and other not in before]
            # Behind the handlers of other threads that listen yet, for the reason above.
            others = any(isinstance(other, _Handler) for other in rest)
            log.handlers[:] = rest + before if others else before + rest
    if handler.failure is not None:
        raise handler.failure


class _Handler(logging.Handler):
    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self.sink = sink
        self.failure: Exception | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            if self._is_ours():
                self.sink(_event(record))
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            self.failure = self.failure or error

    def _is_ours(self) -> bool:
        current = _sink.get()
        if current is not None:
            return current is self.sink
        return isinstance(threading.current_thread(), threading._DummyThread)


def _event(record: logging.LogRecord) -> Event:
    return Event(
        metadata=_with_names(getattr(record, "metadata", {})),
        payload=getattr(record, "payload", None),
        time_s=record.created,
        thread=record.thread or 0,
    )


def _with_names(value: Any) -> Any:
    """The metadata with interned file names turned back into text.

    A frame's ``filename`` is a number in torch's intern table, which is sent as an event only once
    in a process: usually before anybody listens.
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
    for name, known in structured.INTERN_TABLE.items():
        if known == number:
            return str(name)
    return ""
