"""torch's structured trace of the whole process, while it is watched.

Unlike `trace.listening`, which is for one context's own compilation, this hears every thread of the
user's. Nothing is installed before and nothing stays after.

Most events are spans (``chromium_event``), and most of what tracing costs is writing them as JSON
and as log records. So while nobody else listens they are taken as they are, and descriptions of
fake tensors (``describe_…``), which nobody reads, are not made. That stands on the names under
which ``torch._dynamo.utils`` and ``torch._subclasses.meta_utils`` call ``trace_structured``; from
2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any

import torch._logging
from torch._guards import CompileContext
from torch._logging import _internal
from torch._subclasses import meta_utils

from .calls import skip
from .patching import patched
from .trace import Event, Handler, is_users_own, lock, raw

Sink = Callable[[Event], None]
"""Takes an event as it is; `trace.with_names` fills its file names in when there is time."""


def overhear(sink: Sink, failed: Callable[[Exception], None]) -> Callable[[], None]:
    """Sends the user's trace events to ``sink``, from whichever thread; returns the way to stop.

    The compilations of inspections are left out. ``sink`` runs within the user's compilation: it
    shall be short. Its errors go to ``failed`` and never to the compilation.
    """
    handler = _Handler(sink, failed)
    short_cut = contextlib.ExitStack()
    for module in (torch._logging, meta_utils):
        if "trace_structured" in vars(module):
            short_cut.enter_context(patched(module, "trace_structured", _trace))
            skip(vars(module)["trace_structured"], _trace)
    with lock:
        # First, for the reason given in `trace.listening`.
        _internal.trace_log.handlers.insert(0, handler)

    def stop() -> None:
        with lock:
            handlers = _internal.trace_log.handlers
            handlers[:] = [other for other in handlers if other is not handler]
        short_cut.close()

    return stop


_SHORT = frozenset(("chromium_event", "describe_storage", "describe_tensor", "describe_source"))


def _trace(original: Callable[..., None], name: str, *args: Any, **options: Any) -> None:
    handlers = tuple(_internal.trace_log.handlers)
    ours = [one for one in handlers if isinstance(one, _Handler)]
    if len(ours) < len(handlers) or name not in _SHORT:
        original(name, *args, **options)
    elif name == "chromium_event":
        for handler in ours:
            handler.take(options)


class _Handler(Handler):
    def __init__(self, sink: Sink, failed: Callable[[Exception], None]) -> None:
        super().__init__()
        self.sink = sink
        self.failed = failed
        self.process = os.getpid()

    def take(self, options: dict[str, Any]) -> None:
        """Takes a span as torch has it, as `emit` does the record that would be made of it."""
        try:
            trace = CompileContext.current_trace_id()
            metadata: dict[str, Any] = {"chromium_event": {}}
            if trace is not None:
                metadata |= {
                    "frame_id": trace.compile_id.frame_id,
                    "frame_compile_id": trace.compile_id.frame_compile_id,
                    "attempt": trace.attempt,
                }
            if is_users_own(metadata.get("frame_id")) and os.getpid() == self.process:
                span = options["payload_fn"]()
                # torch goes on filling the arguments of some.
                span = {**span, "args": dict(span.get("args") or {})}
                self.sink(Event(metadata, None, time.time(), threading.get_ident(), span))
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            self.failed(error)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            event = raw(record)
            # A forked child inherits the handler, but nobody there who empties the list.
            if is_users_own(event.metadata.get("frame_id")) and os.getpid() == self.process:
                self.sink(event)
        except Exception as error:  # noqa: BLE001 - must not reach the user's compilation
            self.failed(error)
