"""Suppresses the output of a subject while it is called repeatedly.

Timing calls a subject thousands of times, and the user knows its output: that of the user's own
call is kept. Three kinds of output are dropped, of one thread:

- what it prints to ``sys.stdout`` and ``sys.stderr``, also through a reference to the stream from
  before; not what it writes to the stream's buffer or file descriptor;
- what it displays or clears in a cell (``IPython.display``);
- what it logs, whatever the handler, so that a log file does not get a line for each call either.
  Records of torch's and compilescope's loggers are passed on: the subject does not log them, and
  `torch_api.dynamo.muted_warnings` selects what is dropped of torch's.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from ..torch_api.dynamo.muted_warnings import warnings_muted
from ..torch_api.process.patching import patched


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drops this thread's output in the block; that of other threads appears as usual.

    What Dynamo warns of, the report says.
    """
    thread = threading.get_ident()
    before = sys.stdout, sys.stderr
    depth = _depth()
    sys.stdout, sys.stderr = _Muted(before[0], thread), _Muted(before[1], thread)
    _this_thread.depth = depth + 1
    try:
        with (
            warnings_muted(),
            patched(logging.Logger, "handle", _handle),
            _displays_muted(),
            _writes_muted(before[0]),
            _writes_muted(before[1]),
        ):
            yield
    finally:
        _this_thread.depth = depth
        sys.stdout, sys.stderr = before


_this_thread = threading.local()
"""``depth``: how many blocks of `quiet` this thread is in."""


def _depth() -> int:
    return getattr(_this_thread, "depth", 0)


_muted_streams: dict[int, int] = {}
"""The ids of the streams whose ``write`` is replaced, with how many blocks replace it."""
_lock = threading.Lock()


@contextlib.contextmanager
def _writes_muted(stream: Any) -> Iterator[None]:
    """Drops in the block what this thread writes to a stream, whoever refers to it.

    Several threads may hold blocks of one stream at once. A stream whose attributes cannot be set
    is left as it is.
    """
    while isinstance(stream, _Muted):
        stream = stream.stream
    key = id(stream)
    with _lock:
        if key not in _muted_streams and not _replace_write(stream):
            key = 0
        if key:
            _muted_streams[key] = _muted_streams.get(key, 0) + 1
    try:
        yield
    finally:
        if key:
            with _lock:
                _muted_streams[key] -= 1
                if not _muted_streams[key]:
                    del _muted_streams[key]
                    del stream.write


def _replace_write(stream: Any) -> bool:
    """Sets a ``write`` of the stream alone, beside that of its class; returns whether it could."""
    if "write" in getattr(stream, "__dict__", {}):
        return False
    try:
        write = stream.write

        def write_unless_muted(text: str) -> Any:
            return len(text) if _depth() else write(text)

        stream.write = write_unless_muted
    except AttributeError:
        return False
    return True


@contextlib.contextmanager
def _displays_muted() -> Iterator[None]:
    """Drops in the block what this thread displays or clears in IPython, if IPython runs."""
    loaded = sys.modules.get("IPython.core.getipython")
    shell = loaded.get_ipython() if loaded is not None else None
    with contextlib.ExitStack() as stack:
        for name in ("publish", "clear_output"):
            for cls in type(getattr(shell, "display_pub", None)).__mro__:
                if name in vars(cls):
                    stack.enter_context(patched(cls, name, _unless_muted))
                    break
        yield


def _unless_muted(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return None if _depth() else original(*args, **kwargs)


def _handle(
    original: Callable[..., Any], logger: logging.Logger, record: logging.LogRecord
) -> None:
    if not _depth():
        original(logger, record)
    elif record.name.partition(".")[0] in ("torch", "compilescope"):
        depth, _this_thread.depth = _depth(), 0  # a handler writes to a stream from before
        try:
            original(logger, record)
        finally:
            _this_thread.depth = depth


class _Muted:
    """A text stream that drops one thread's output and passes on that of others."""

    def __init__(self, stream: Any, thread: int) -> None:
        self.stream = stream
        self._thread = thread

    def write(self, text: str) -> int:
        if threading.get_ident() == self._thread:
            return len(text)
        written = self.stream.write(text)
        return written if isinstance(written, int) else len(text)  # a user's stream may say nothing

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
