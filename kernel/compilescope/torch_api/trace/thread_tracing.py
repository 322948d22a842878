"""Lets one thread trace a graph while other threads call compiled code.

While ``torch.fx`` traces, it sets a flag of the whole process, and compiled callables raise an
error when any thread calls them. Relies on ``torch.fx._symbolic_trace`` (``_is_fx_tracing_flag``,
which ``Tracer.trace`` sets and ``is_fx_symbolic_tracing`` reads); without the flag nothing is
changed.
"""

from __future__ import annotations

import contextlib
import inspect
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx import _symbolic_trace

from ..process.patching import patched

_FLAG = "_is_fx_tracing_flag"


@contextlib.contextmanager
def traced_unseen() -> Iterator[None]:
    """Hides this thread's tracing in the block from other threads."""
    if not hasattr(_symbolic_trace, _FLAG):
        yield
        return
    with _held_flag(), patched(_symbolic_trace.Tracer, "trace", _trace), _this_thread():
        yield


class _ThreadFlag:
    """A thread-local replacement for torch's flag."""

    def __bool__(self) -> bool:
        return getattr(_thread, "traces", False)


_thread = threading.local()
_flag = _ThreadFlag()
_lock = threading.Lock()
_holders = 0


@contextlib.contextmanager
def _this_thread() -> Iterator[None]:
    before = getattr(_thread, "is_unseen", False)
    _thread.is_unseen = True
    try:
        yield
    finally:
        _thread.is_unseen = before


@contextlib.contextmanager
def _held_flag() -> Iterator[None]:
    """Replaces torch's flag by the thread-local one, unless another thread is tracing."""
    global _holders
    module = vars(_symbolic_trace)
    with _lock:
        _holders += 1
        if module[_FLAG] is False:
            module[_FLAG] = _flag
    try:
        yield
    finally:
        with _lock:
            _holders -= 1
            # Another thread that is still tracing restores the value it found, which is false for
            # all.
            if not _holders and module[_FLAG] is _flag:
                module[_FLAG] = False


def _trace(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Traces as the original does, but with the thread-local flag."""
    # Dynamo wraps the original so as not to compile it; wrap the copy in the same way.
    function: Any = inspect.unwrap(original)
    is_known = getattr(function, "__globals__", None) is vars(_symbolic_trace)
    if not (is_known and getattr(_thread, "is_unseen", False)):
        return original(*args, **kwargs)
    apart: Any = types.FunctionType(
        function.__code__,
        dict(vars(_symbolic_trace)),
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    apart.__kwdefaults__ = function.__kwdefaults__
    if function is not original:
        disable: Any = torch.compiler.disable
        apart = disable(apart)
    before = getattr(_thread, "traces", False)
    _thread.traces = True
    try:
        return apart(*args, **kwargs)
    finally:
        _thread.traces = before
