"""Records the layers of one call of a compiled subject, so that each can be called separately."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
import torch

from ...torch_api.dynamo.compiled_graphs import KeptFrame, KeptGraph, detached, stub_wrapper
from ...torch_api.dynamo.frames import (
    BackwardCall,
    FrameCall,
    Observer,
    function_context,
    function_of,
    graph_function,
    recorded,
    recorded_backward,
)
from ...torch_api.dynamo.wrapper_type import Inner


class Unit(msgspec.Struct, kw_only=True):
    """A compiled graph that a call runs."""

    name: str
    """For the calls that time it; also where it ran several times."""
    graph: KeptGraph
    frame: Frame | None
    inputs: list[Any]
    stub: Inner
    """The wrapper's stand-in: it returns what the wrapper returned."""
    real: Inner
    grad: bool
    """Whether grad mode is on where Inductor is entered."""
    runs: int = 1
    aot: Callable[[], Any] | None = None
    """AOTAutograd's part with all that is in it."""
    aot_grad: bool = False

    def run(self) -> Any:
        """Runs the graph as AOTAutograd does."""
        return self.graph.call(list(self.inputs))


class Frame(msgspec.Struct, kw_only=True, eq=False):
    """A compiled frame that a call runs, with the first call of it."""

    compile_id: str
    code: types.CodeType
    call: FrameCall
    parent: Frame | None
    calls: int = 1


class Recording(msgspec.Struct, kw_only=True):
    """What ran in a call of the subject, and in its backward."""

    units: list[Unit] = []
    backward: list[Unit] = []
    frames: list[Frame] = []

    @property
    def single_frame(self) -> Frame | None:
        """The frame that all of the call runs in, if there is one."""
        outermost = [frame for frame in self.frames if frame.parent is None]
        inside = all(unit.frame is not None for unit in self.units)
        return outermost[0] if len(outermost) == 1 and outermost[0].calls == 1 and inside else None

    @property
    def all_units(self) -> list[Unit]:
        """Of the call and of the backward, in the order in which they ran."""
        return [*self.units, *self.backward]


def record(
    call: Callable[[], Any],
    backward: Callable[[Any], Any] | None,
    restore: Callable[[], None],
    graphs: Sequence[KeptGraph],
    frames: Sequence[KeptFrame],
) -> Recording:
    """Calls the subject twice, and each graph's AOTAutograd part once.

    Parameters
    ----------
    backward
        Runs the backward of what the call returned, if it has one to run.
    restore
        Puts the subject's state back.
    """
    runs = _Runs(frames)
    with runs.watched(graphs):
        output = call()
        runs.in_backward = True
        if backward is not None:
            backward(output)
    del output
    restore()
    _add_aot(runs, call, backward, restore)
    return runs.recording


class _Runs:
    """Records graphs and frames as they run."""

    def __init__(self, frames: Sequence[KeptFrame]) -> None:
        self.recording = Recording()
        self.in_backward = False
        self.functions: dict[str, Any] = {}
        """Compile id → the autograd function around its graphs."""
        self._by_code = {id(frame.compiled_code): frame for frame in frames}
        self._observer = Observer(
            {id(frame.compiled_code): frame.compiled_code for frame in frames}
        )
        self._frames: dict[int, Frame] = {}
        self._counted: set[int] = set()

    @contextlib.contextmanager
    def watched(self, graphs: Sequence[KeptGraph]) -> Iterator[None]:
        real = [(graph, graph.inner) for graph in graphs]
        for graph, inner in real:
            graph.inner = self._probe(graph, inner)
        try:
            yield
        finally:
            for graph, inner in real:
                graph.inner = inner

    def _probe(self, graph: KeptGraph, inner: Inner) -> Inner:
        recorded: list[Unit] = []

        def probe(inputs: list[Any]) -> Any:
            frame = self._frame(self._observer.frame())
            if recorded:
                recorded[0].runs += 1
                return inner(inputs)
            if graph.direction == "forward":
                context = function_context()
                if context is not None:
                    self.functions[graph.compile_id] = function_of(context)
            kept_inputs, grad = list(inputs), torch.is_grad_enabled()
            outputs = inner(inputs)
            results = _copied(outputs) if graph.cudagraphs else detached(outputs)
            units = self.recording.backward if self.in_backward else self.recording.units
            unit = Unit(
                name=f"{graph.compile_id} {graph.direction} {len(self.recording.all_units)}",
                graph=graph,
                frame=frame,
                inputs=kept_inputs,
                stub=stub_wrapper(results, fresh=graph.direction == "forward"),
                real=inner,
                grad=grad,
            )
            units.append(unit)
            recorded.append(unit)
            return outputs

        return probe

    def _frame(self, call: FrameCall | None) -> Frame | None:
        if call is None:
            return None
        parent = self._frame(call.parent)
        frame = self._frames.get(id(call.compiled_code))
        if frame is None:
            compiled = self._by_code[id(call.compiled_code)]
            frame = Frame(
                compile_id=compiled.compile_id, code=compiled.code, call=call, parent=parent
            )
            self._frames[id(call.compiled_code)] = frame
            self.recording.frames.append(frame)
        elif id(call) not in self._counted:
            frame.calls += 1
        self._counted.add(id(call))
        return frame


def _copied(outputs: Any) -> Any:
    """Copies: what a CUDA graph returned is overwritten by its next run."""
    copies = [
        output.detach().clone() if isinstance(output, torch.Tensor) else output
        for output in outputs
    ]
    return tuple(copies) if isinstance(outputs, tuple) else copies


def _add_aot(
    runs: _Runs,
    call: Callable[[], Any],
    backward: Callable[[Any], Any] | None,
    restore: Callable[[], None],
) -> None:
    """Makes AOTAutograd's part of each graph callable, with what another call gives it."""
    recording = runs.recording
    forwards: dict[str, tuple[tuple[Any, ...], bool]] = {}
    backwards: dict[str, tuple[tuple[Any, ...], bool]] = {}

    def keep(
        first_inputs: dict[str, tuple[tuple[Any, ...], bool]], name: str
    ) -> Callable[[tuple[Any, ...]], None]:
        def sink(args: tuple[Any, ...]) -> None:
            first_inputs.setdefault(name, (args, torch.is_grad_enabled()))

        return sink

    with contextlib.ExitStack() as stack:
        for frame in recording.frames:
            stack.enter_context(recorded(frame.call, keep(forwards, frame.compile_id)))
        for compile_id, function in runs.functions.items():
            stack.enter_context(recorded_backward(function, keep(backwards, compile_id)))
        output = call()
        if backward is not None:
            backward(output)
    del output
    restore()
    first = {
        unit.graph.compile_id: unit
        for unit in reversed(recording.all_units)
        if unit.graph.direction != "backward" and unit.frame is not None
    }
    for compile_id, unit in first.items():
        function = graph_function(unit.frame.call) if unit.frame is not None else None
        if compile_id in forwards and function is not None:
            args, unit.aot_grad = forwards[compile_id]
            unit.aot = _bound(function, args)
    for unit in recording.all_units:
        compile_id = unit.graph.compile_id
        forward = first.get(compile_id)
        if unit.graph.direction != "backward" or compile_id not in backwards or forward is None:
            continue
        gradients, grad = backwards[compile_id]
        repeatable = BackwardCall(gradients, functools.partial(_context_of, forward))
        if repeatable.renew():
            unit.aot, unit.aot_grad = repeatable, grad
    restore()


def _bound(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any]:
    return lambda: function(*args)


def _context_of(unit: Unit) -> tuple[Any, Any] | None:
    """The context that autograd's function gets in a forward, and what the forward returns.

    The wrapper does not run: what it returned before is saved for the backward.
    """
    if unit.aot is None or unit.graph.direction != "forward":
        return None
    seen: list[Any] = []

    def stub(inputs: list[Any]) -> Any:
        seen.append(function_context())
        return unit.stub(inputs)

    before, unit.graph.inner = unit.graph.inner, stub
    try:
        with torch.set_grad_enabled(unit.aot_grad):
            output = unit.aot()
    finally:
        unit.graph.inner = before
    return (seen[0], output) if seen and seen[0] is not None else None


@contextlib.contextmanager
def backwards_of(graphs: Sequence[KeptGraph]) -> Iterator[list[str]]:
    """Yields a list that gets the compile id of each backward graph that runs in the block."""
    ran: list[str] = []
    real = [(graph, graph.inner) for graph in graphs if graph.direction == "backward"]

    def noting(graph: KeptGraph, inner: Inner) -> Inner:
        def run(inputs: list[Any]) -> Any:
            ran.append(graph.compile_id)
            return inner(inputs)

        return run

    for graph, inner in real:
        graph.inner = noting(graph, inner)
    try:
        yield ran
    finally:
        for graph, inner in real:
            graph.inner = inner
