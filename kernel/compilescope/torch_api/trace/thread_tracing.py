"""Tracing a graph in one thread while others call what is compiled.

While ``torch.fx`` traces, a flag of the whole process is set, and what ``torch.compile`` returned
raises an error when it is called, in whatever thread. Stands on
``torch.fx._symbolic_trace`` (``_is_fx_tracing_flag``, which ``Tracer.trace`` sets and
``is_fx_symbolic_tracing`` reads); without the flag nothing is changed.
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
    """What this thread traces in the block, other threads do not notice."""
    if not hasattr(_symbolic_trace, _FLAG):
        yield
        return
    with _held_flag(), patched(_symbolic_trace.Tracer, "trace", _trace), _this_thread():
        yield


class _ThreadFlag:
    """torch's flag, as the thread sees it that reads it."""

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
    """Puts the thread's flag in the place of torch's, unless another thread traces just then."""
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
            # Another thread that traces still puts back what it met, which is false for all.
            if not _holders and module[_FLAG] is _flag:
                module[_FLAG] = False


def _trace(original: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Does what the original does, with a flag that is not the process's."""
    # What Dynamo has put around it, so as not to compile it, is put around its twin too.
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
