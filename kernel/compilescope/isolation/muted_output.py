"""Suppresses what is printed while a subject is called repeatedly."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

from ..torch_api.dynamo.muted_warnings import warnings_muted


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drops this thread's output in the block; other threads print as usual.

    Timing calls a subject thousands of times, and the user knows its output. What Dynamo warns of,
    the report says.
    """
    thread = threading.get_ident()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Muted(before[0], thread), _Muted(before[1], thread)
    try:
        with warnings_muted():
            yield
    finally:
        sys.stdout, sys.stderr = before


class _Muted:
    """A text stream that drops one thread's output and passes on that of others."""

    def __init__(self, stream: Any, thread: int) -> None:
        self._stream = stream
        self._thread = thread

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        written = self._stream.write(text)
        return written if isinstance(written, int) else len(text)  # a user's stream may say nothing

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
