"""Suppresses the printing of those of torch's warnings in one thread that the report contains.

Dynamo's concern graph breaks, recompile limits and ignored profiler ranges; one of Inductor's says
why CUDA graphs are skipped. Errors are printed. If the user configured torch's logs
(``TORCH_LOGS``, ``torch._logging.set_logs``), everything is printed; handlers that the user added
are not changed.

Relies on the loggers ``torch._dynamo``, ``torch._inductor`` and
``torch._inductor.cudagraph_utils``, on ``torch._logging._internal.handlers``, which are torch's
own, and on ``log_state`` there, which is empty unless the user chose.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator

from torch._logging import _internal


@contextlib.contextmanager
def warnings_muted() -> Iterator[None]:
    """In the block, no warning of this thread is printed that the report contains."""
    state = _internal.log_state
    if state.log_qname_to_level or state.artifact_names:
        yield
        return
    filters = [
        (handler, _OtherThreads(reported))
        for name, reported in _REPORTED.items()
        for handler in logging.getLogger(name).handlers
        if handler in _internal.handlers
    ]
    for handler, muted in filters:
        handler.addFilter(muted)
    try:
        yield
    finally:
        for handler, muted in filters:
            handler.removeFilter(muted)


_REPORTED = {"torch._dynamo": "torch._dynamo", "torch._inductor": "torch._inductor.cudagraph_utils"}
"""Logger with a handler of torch's → the logger below it, or itself, whose warnings are muted."""


class _OtherThreads(logging.Filter):
    """Passes records other than warnings of a logger, or those below it, in this thread."""

    def __init__(self, reported: str) -> None:
        super().__init__(reported)
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        muted = record.thread == self._thread and record.levelno <= logging.WARNING
        return not (muted and super().filter(record))
