"""Suppresses the printing of those of torch's warnings in one thread that the report contains.

Dynamo's concern graph breaks, recompile limits and ignored profiler ranges. Inductor's say why CUDA
graphs are skipped, and which operators a C++ wrapper calls without a C shim. Errors are printed. If
the user configured torch's logs (``TORCH_LOGS``, ``torch._logging.set_logs``), everything is
printed; handlers that the user added are not changed.

Relies on the loggers ``torch._dynamo``, ``torch._inductor``, ``torch._inductor.cudagraph_utils``
and ``torch._inductor.ir``, on ``torch._logging._internal.handlers``, which are torch's own, and on
``log_state`` there, which is empty unless the user chose.
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
        (handler, _OtherThreads(reported, text))
        for name, reported, text in _REPORTED
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


_REPORTED = (
    ("torch._dynamo", "torch._dynamo", ""),
    ("torch._inductor", "torch._inductor.cudagraph_utils", ""),
    ("torch._inductor", "torch._inductor.ir", "is missing a c-shim implementation"),
)
"""A logger with a handler of torch's; the logger whose warnings are muted, itself or one below it;
a text that they contain."""


class _OtherThreads(logging.Filter):
    """Passes records other than warnings of a logger, or those below it, in this thread.

    Of the warnings, only those that contain a text are held back.
    """

    def __init__(self, reported: str, text: str) -> None:
        super().__init__(reported)
        self._text = text
        self._thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        muted = record.thread == self._thread and record.levelno <= logging.WARNING
        return not (muted and super().filter(record) and self._text in str(record.msg))
