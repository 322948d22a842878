"""Finds calls of compiled frames and autograd nodes on the stack, and repeats them.

Relies on ``torch._C._dynamo.eval_frame`` (set_eval_frame, whose ``False`` runs compiled code and
compiles nothing new; set_eval_frame_isolate_recompiles_id from 2.13 on), on the globals
``__compiled_fn_…`` through which Dynamo's bytecode calls a graph, on ``_torchdynamo_orig_callable``
of the result of ``torch._dynamo.disable``, and on ``torch.autograd.function.BackwardCFunction``
(``_forward_cls``, its ``backward``, ``boxed_grads_call``).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any

import msgspec
import torch
from torch._C._dynamo import eval_frame as eval_frame_in_c
from torch.autograd.function import BackwardCFunction

from ..guards.guard_managers import GRAPH
from ..process.patching import patched
from ..trace.compile_calls import skip

_set_eval_frame: Any = eval_frame_in_c.set_eval_frame
_set_isolated: Any = getattr(eval_frame_in_c, "set_eval_frame_isolate_recompiles_id", None)


class FrameCall(msgspec.Struct, kw_only=True):
    """A call of a compiled frame that can be repeated."""

    compiled_code: types.CodeType
    namespace: dict[str, Any]
    """The frame's globals."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    closure: tuple[Any, ...]
    """The values of the free variables."""
    parent: FrameCall | None = None
    """The compiled frame that made the call."""
    calls: int = 1

    def graph_name(self) -> str | None:
        """The name of the global through which the frame calls its graph."""
        return next((name for name in self.compiled_code.co_names if name.startswith(GRAPH)), None)

    def bound(self, code: types.CodeType) -> Callable[[], Any]:
        """The call with ``code`` (the original or the compiled code) as the function's code."""
        cells = tuple(types.CellType(value) for value in self.closure)
        function = types.FunctionType(code, self.namespace, code.co_name, None, cells)
        return functools.partial(function, *self.args, **self.kwargs)


class Observer:
    """Finds compiled frames on the stack of the thread that created it.

    Autograd calls the backward of a GPU's graphs in a separate thread while that thread waits. An
    observer keeps the frames that it saw, and so their values, alive until it is dropped.
    """

    def __init__(self, compiled_code: Mapping[int, types.CodeType]) -> None:
        self._compiled_code = compiled_code
        self._seen: dict[types.FrameType, FrameCall] = {}
        self._thread = threading.get_ident()

    def frame(self) -> FrameCall | None:
        """The innermost compiled frame above this call."""
        innermost = sys._current_frames().get(self._thread)
        frames = [frame for frame in _stack(innermost) if id(frame.f_code) in self._compiled_code]
        call: FrameCall | None = None
        for frame in reversed(frames):
            if frame not in self._seen:
                self._seen[frame] = _call_of(frame, call)
            call = self._seen[frame]
        return call


def function_context() -> Any:
    """The context of the innermost ``torch.autograd.Function`` whose forward calls this."""
    for frame in _stack(sys._getframe()):
        context = frame.f_locals.get("ctx") if "ctx" in frame.f_code.co_varnames else None
        if isinstance(context, BackwardCFunction):
            return context
    return None


def function_of(context: Any) -> Any:
    """The autograd function that the context belongs to."""
    return type(context)._forward_cls


def _stack(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _call_of(frame: types.FrameType, parent: FrameCall | None) -> FrameCall:
    code, values = frame.f_code, frame.f_locals
    named = code.co_varnames
    first = code.co_argcount
    last = first + code.co_kwonlyargcount
    args = [values[name] for name in named[:first]]
    kwargs = {name: values[name] for name in named[first:last]}
    if code.co_flags & inspect.CO_VARARGS:
        args.extend(values[named[last]])
        last += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        kwargs |= values[named[last]]
    return FrameCall(
        compiled_code=code,
        namespace=frame.f_globals,
        args=tuple(args),
        kwargs=kwargs,
        closure=tuple(values.get(name) for name in code.co_freevars),
        parent=parent,
    )


def without_new_compilations(call: Callable[[], Any], compiled: Any) -> Callable[[], Any]:
    """``call`` as under ``torch.compile``, which uses its compilations but adds none.

    Parameters
    ----------
    compiled
        The callable from ``torch.compile`` whose compilations are used.
    """
    number = _isolation(compiled)

    def run() -> Any:
        before = _set_eval_frame(None)
        isolated = _set_isolated(number) if _set_isolated is not None else None
        _set_eval_frame(False)
        try:
            return call()
        finally:
            _set_eval_frame(before)
            if _set_isolated is not None:
                _set_isolated(isolated)

    return run


def _isolation(compiled: Any) -> int:
    context = getattr(compiled, "dynamo_ctx", None) or compiled
    return int(getattr(context, "_isolate_recompiles_id", -1))


def skipped_function() -> None:
    """A function that Dynamo never compiles."""


skip(skipped_function)


@contextlib.contextmanager
def recorded(call: FrameCall, sink: Callable[[tuple[Any, ...]], None]) -> Iterator[None]:
    """Passes ``sink`` the inputs that the frame passes to its graph, on each call in the block."""
    name = call.graph_name()
    if name is None or name not in call.namespace:
        yield
        return
    original = call.namespace[name]

    def record(*args: Any) -> Any:
        sink(args)
        return original(*args)

    skip(record)
    call.namespace[name] = record
    try:
        yield
    finally:
        call.namespace[name] = original


def graph_function(call: FrameCall) -> Callable[..., Any] | None:
    """The function behind the frame's graph, without its ``torch._dynamo.disable`` wrapper."""
    function = call.namespace.get(call.graph_name() or "")
    inner = getattr(function, "_torchdynamo_orig_callable", function)
    return inner if callable(inner) else None


@contextlib.contextmanager
def recorded_backward(function: Any, sink: Callable[[tuple[Any, ...]], None]) -> Iterator[None]:
    """Passes ``sink`` the gradients that an autograd function's backward receives in the block."""
    original = vars(function)["backward"]

    def record(context: Any, *gradients: Any) -> Any:
        sink(
            tuple(
                list(gradient) if isinstance(gradient, list) else gradient for gradient in gradients
            )
        )
        return original.__func__(context, *gradients)

    function.backward = staticmethod(record)
    try:
        yield
    finally:
        function.backward = original


class BackwardCall:
    """The backward of an autograd function, called without the engine.

    Parameters
    ----------
    gradients
        The gradients that `recorded_backward` passed to its sink.
    forward
        Runs the forward, and returns its context and its result. The context stays valid while that
        result lives and nothing writes to the saved tensors.
    """

    def __init__(
        self, gradients: tuple[Any, ...], forward: Callable[[], tuple[Any, Any] | None]
    ) -> None:
        self._gradients = gradients
        self._boxed = len(gradients) == 1 and isinstance(gradients[0], list)
        self._forward = forward
        self._context: Any = None
        self._output: Any = None
        self._backward: Any = None

    def renew(self) -> bool:
        """Runs the forward again; returns whether that gave a context."""
        forward_result = self._forward()
        if forward_result is None:
            return False
        self._context, self._output = forward_result
        self._backward = function_of(self._context).backward
        return True

    def __call__(self) -> Any:
        """Runs the backward."""
        if self._boxed:
            return self._backward(self._context, list(self._gradients[0]))
        return self._backward(self._context, *self._gradients)


_runs_backward_alone: ContextVar[bool] = ContextVar("compilescope_backward_alone", default=False)


@contextlib.contextmanager
def backward_alone() -> Iterator[Callable[[bool], None]]:
    """Allows backwards to be called without the autograd engine in the block.

    Otherwise torch assumes ``retain_graph``, which a backward that may overwrite saved buffers
    refuses. Yields a function that switches this on or off for the next calls.
    """

    def keeps_graph(original: Any) -> Any:
        return False if _runs_backward_alone.get() else original()

    def switch(on: bool) -> None:
        _runs_backward_alone.set(on)

    token = _runs_backward_alone.set(False)
    try:
        with patched(torch._C._autograd, "_get_current_graph_task_keep_graph", keeps_graph):
            yield switch
    finally:
        _runs_backward_alone.reset(token)
