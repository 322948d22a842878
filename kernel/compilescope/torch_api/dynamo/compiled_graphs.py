"""Keeps the graphs that Inductor compiles and the frames that Dynamo compiles.

Relies on ``torch._inductor.output_code.CompiledFxGraph`` (post_compile and its argument with the
key ``cudagraphs``, current_callable, fx_kwargs, device_types), on the names of the functions in
which Inductor wraps a generated wrapper (``model`` in ``align_inputs_from_check_idxs``,
``original_callable`` where regions are wrapped), on
``torch._dynamo.convert_frame.register_bytecode_hook``; the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import msgspec
import torch
from torch._dynamo import convert_frame
from torch._guards import CompileContext
from torch._inductor.output_code import CompiledFxGraph

from ...report import Direction
from ..process.patching import patched
from ..trace.trace import is_foreign
from .wrapper_type import Inner


class KeptFrame(msgspec.Struct, kw_only=True):
    """A frame that Dynamo compiled."""

    compile_id: str
    """torch's own compile id."""
    code: types.CodeType
    """The original code."""
    compiled_code: types.CodeType
    """The compiled code, which runs in its place."""


class KeptGraph(msgspec.Struct, kw_only=True):
    """A graph that Inductor compiled: what AOTAutograd calls."""

    compile_id: str
    """torch's own compile id of the frame that the graph belongs to."""
    direction: Direction
    graph: Any
    """The ``CompiledFxGraph``."""

    cudagraphs: bool = False
    """Whether CUDA graphs run in place of the wrapper."""
    runs: int = 0
    """How often it was called within `keeping_layers`."""

    def call(self, inputs: list[Any]) -> Any:
        """Calls Inductor's entry point with a list that it may empty."""
        return self.graph(inputs)

    @property
    def inner(self) -> Inner:
        """The generated wrapper that Inductor's entry point calls."""
        cell = self._cell()
        wrapper: Inner = self.graph.current_callable if cell is None else cell.cell_contents
        return wrapper

    @inner.setter
    def inner(self, value: Inner) -> None:
        cell = self._cell()
        if cell is None:
            self.graph.current_callable = value
        else:
            cell.cell_contents = value

    def _cell(self) -> Any:
        """The closure cell that holds the wrapper, if one of Inductor's own functions calls it."""
        cell, function = None, self.graph.current_callable
        while isinstance(function, types.FunctionType) and function.__module__.startswith(
            _INDUCTOR
        ):
            around = dict(
                zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
            )
            inside = next((around[name] for name in _INSIDE if name in around), None)
            if inside is None:
                break
            cell, function = inside, inside.cell_contents
        return cell


class KeptLayers(msgspec.Struct, kw_only=True):
    """The graphs and frames of a compiled call, for calling its layers separately."""

    graphs: list[KeptGraph] = []
    frames: list[KeptFrame] = []
    ids: dict[str, str] = {}
    """torch's own compile ids → the report's."""

    def recording(self) -> contextlib.AbstractContextManager[None]:
        """Adds what this context compiles in the block."""
        return keeping_layers(self.graphs, self.frames)


_INDUCTOR = ("torch._inductor.utils", "torch._inductor.output_code", "torch._inductor.compile_fx")
_INSIDE = ("model", "original_callable")

Sink = Callable[["KeptGraph"], None]
_sink: ContextVar[Sink | None] = ContextVar("compilescope_layers", default=None)
_sinks: list[Sink] = []
"""The `keeping_layers` blocks that are open, innermost last."""


@contextlib.contextmanager
def keeping_layers(graphs: list[KeptGraph], frames: list[KeptFrame]) -> Iterator[None]:
    """Appends the graphs and frames that this context compiles in the block to the two lists."""
    thread = threading.get_ident()

    def hook(code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
        compile_id = CompileContext.current_compile_id()
        if threading.get_ident() == thread and compile_id is not None:
            frames.append(KeptFrame(compile_id=str(compile_id), code=code, compiled_code=new_code))
        return None

    sink = graphs.append
    token = _sink.set(sink)
    _sinks.append(sink)
    handle = convert_frame.register_bytecode_hook(hook)

    def counted(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
        for kept in graphs:
            if kept.graph is self:
                kept.runs += 1
        return original(self, *args, **kwargs)

    try:
        with (
            patched(CompiledFxGraph, "post_compile", _compiled),
            patched(CompiledFxGraph, "__call__", counted),
        ):
            yield
    finally:
        handle.remove()
        _sinks.remove(sink)
        _sink.reset(token)


def _compiled(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    result = original(self, *args, **kwargs)
    sink = _sink.get()
    if sink is None and _sinks and is_foreign():
        # A GPU's backward is compiled in autograd's thread, which does not inherit this context.
        sink = _sinks[-1]
    if sink is not None:
        settings_of_fx = self.fx_kwargs or {}
        direction: Direction = "forward"
        if settings_of_fx.get("is_backward"):
            direction = "backward"
        elif settings_of_fx.get("is_inference"):
            direction = "inference"
        # Read now: a later graph that cannot use CUDA graphs turns the same switch off.
        settings = [arg for arg in (*args, *kwargs.values()) if isinstance(arg, Mapping)]
        sink(
            KeptGraph(
                compile_id=str(CompileContext.current_compile_id()),
                direction=direction,
                graph=self,
                cudagraphs="cuda" in self.device_types
                and any(bool(setting.get("cudagraphs")) for setting in settings),
            )
        )
    return result


def detached(outputs: Any) -> Any:
    """A wrapper's result with its tensors detached, so that later code does not change them."""
    tensors = [
        output.detach() if isinstance(output, torch.Tensor) else output for output in outputs
    ]
    return tuple(tensors) if isinstance(outputs, tuple) else tensors


def stub_wrapper(outputs: Sequence[Any], *, fresh: bool) -> Inner:
    """A wrapper that computes nothing: it empties its list and returns the earlier result.

    Parameters
    ----------
    fresh
        Whether each call must return new tensors: autograd marks those that a forward returns.
    """

    def stub(inputs: list[Any]) -> Any:
        inputs.clear()
        return detached(outputs) if fresh else outputs

    return stub
