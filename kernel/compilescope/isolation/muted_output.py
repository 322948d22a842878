"""The subject's own output, kept out of the cell while it is called again and again."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drops what this thread prints in the block; other threads print as ever.

    A subject is called thousands of times to be timed. Its user knows what it prints.
    """
    thread = threading.get_ident()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Muted(before[0], thread), _Muted(before[1], thread)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Muted:
    """A text stream that takes nothing from one thread and passes on the others' calls."""

    def __init__(self, stream: Any, thread: int) -> None:
        self._stream = stream
        self._thread = thread

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        return int(self._stream.write(text))

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
