"""Suppresses the output of a subject while it is called repeatedly.

Timing calls a subject thousands of times, and the user knows its output: that of the user's own
call is kept. Three kinds of output are dropped, of one thread:

- what it prints to ``sys.stdout`` and ``sys.stderr``, also through a reference to the stream from
  before; not through a reference to the stream's ``write`` method, as ``tqdm`` keeps it, nor what
  it writes to the stream's buffer or file descriptor;
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

from .. import ipython_shell
from ..torch_api.dynamo.muted_warnings import warnings_muted
from ..torch_api.process.patching import patched


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drops this thread's output in the block; that of other threads appears as usual.

    What Dynamo warns of, the report says.
    """
    depth = _depth()
    _this_thread.depth = depth + 1
    try:
        with (
            warnings_muted(),
            patched(logging.Logger, "handle", _handle),
            _displays_muted(),
            _stream_muted("stdout"),
            _stream_muted("stderr"),
        ):
            yield
    finally:
        _this_thread.depth = depth


_this_thread = threading.local()
"""``depth``: how many blocks of `quiet` this thread is in."""


def _depth() -> int:
    return getattr(_this_thread, "depth", 0)


_muted: dict[tuple[str, int], _Muted] = {}
"""The name in ``sys`` and the id of each stream that a block mutes."""
_lock = threading.Lock()


@contextlib.contextmanager
def _stream_muted(name: str) -> Iterator[None]:
    """Drops in the block what this thread writes to ``sys.stdout`` or ``sys.stderr``.

    Blocks of several threads may overlap in any order: the last to end restores the stream.
    """
    if getattr(sys, name) is None:  # as without a console
        yield
        return
    with _lock:
        current = getattr(sys, name)
        stream = current.stream if isinstance(current, _Muted) else current
        key = (name, id(stream))
        muted = _muted.get(key)
        if muted is None:
            muted = _muted[key] = _Muted(stream)
            muted.replace_write()
        muted.blocks += 1
        if current is stream:
            setattr(sys, name, muted)
    try:
        yield
    finally:
        with _lock:
            muted.blocks -= 1
            if not muted.blocks:
                del _muted[key]
                muted.restore_write()
                setattr(sys, name, stream)


@contextlib.contextmanager
def _displays_muted() -> Iterator[None]:
    """Drops in the block what this thread displays or clears in IPython, if IPython runs."""
    shell = ipython_shell.current()
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
    """A text stream that drops what muted threads write and passes on the rest."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.blocks = 0
        """How many blocks mute the stream."""
        self._replacement: Callable[[str], Any] | None = None

    def replace_write(self) -> None:
        """Mutes also who refers to the stream itself, by a ``write`` beside that of its class.

        A stream that cannot have one, or already has one, is left as it is.
        """
        attributes = getattr(self.stream, "__dict__", None)
        if not isinstance(attributes, dict) or "write" in attributes:
            return
        write = getattr(self.stream, "write", None)
        if write is not None:
            self._replacement = attributes["write"] = lambda text: (
                len(text) if _depth() else write(text)
            )

    def restore_write(self) -> None:
        """Removes the stream's ``write``, unless the subject has removed or replaced it."""
        attributes = getattr(self.stream, "__dict__", {})
        if self._replacement is not None and attributes.get("write") is self._replacement:
            del attributes["write"]

    def write(self, text: str) -> int:
        if _depth():
            return len(text)
        written = self.stream.write(text)
        return written if isinstance(written, int) else len(text)  # a user's stream may say nothing

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
