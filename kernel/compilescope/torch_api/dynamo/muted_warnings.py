"""Suppresses the printing of one thread's Dynamo warnings, which the report contains.

They concern graph breaks, recompile limits and ignored profiler ranges. Errors are printed. If the
user configured torch's logs (``TORCH_LOGS``, ``torch._logging.set_logs``), everything is printed;
handlers that the user added are not changed.

Relies on the logger ``torch._dynamo``, on ``torch._logging._internal.handlers``, which are torch's
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
    """In the block, no warning that Dynamo logs in this thread is printed."""
    state = _internal.log_state
    if state.log_qname_to_level or state.artifact_names:
        yield
        return
    muted = _OtherThreads()
    of_dynamo = logging.getLogger("torch._dynamo").handlers
    handlers = [handler for handler in of_dynamo if handler in _internal.handlers]
    for handler in handlers:
        handler.addFilter(muted)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(muted)


class _OtherThreads(logging.Filter):
    """Lets pass what is no warning of this thread."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        return record.thread != self._thread or record.levelno > logging.WARNING
