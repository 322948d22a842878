"""The calls by which a recorded call of a subject is timed, layer by layer."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec
import torch

from ...torch_api.dynamo.compiled_graphs import KeptGraph
from ...torch_api.dynamo.frames import (
    BackwardCall,
    backward_alone,
    skipped_function,
    without_new_compilations,
)
from ...torch_api.inductor.wrappers import wrapper_launches
from ...torch_api.inductor.wrappers.wrapper_launches import (
    LaunchCall,
    is_python_wrapper,
    launches_of,
)
from .recording import Frame, Recording, Unit

WHOLE, HOST, STUBBED, NOTHING = "whole", "host", "stubbed", "nothing"
FORWARD, BACKWARD, BACKWARD_HOST, BACKWARD_STUBBED = (
    "forward",
    "backward",
    "backward host",
    "backward stubbed",
)

REPEATED = ("aot ", "entry ", "direct ", "guarded ")
"""Prefixes of the names of calls that are timed both with stand-ins and without."""
WITH_ALL_SUFFIX = " with all"
"""Suffix of the names of calls without stand-ins."""

Stubs = Literal["all", "forward", "none"]


class Timed(msgspec.Struct, kw_only=True):
    """A call to be timed, and what must be in place meanwhile."""

    call: Callable[[], Any]
    stubs: Stubs = "all"
    """Which wrappers are replaced by stubs."""
    grad: bool | None = None
    """Grad mode; None: as the subject is called."""
    alone: bool = False
    """Whether it calls a backward without autograd's engine, after a forward of its own."""
    restores: bool = False
    """Whether the subject's state has to be as it was."""


class Calls:
    """All of them, by name.

    Parameters
    ----------
    compiled
        What ``torch.compile`` returned.
    call
        Calls it.
    backward
        Runs the backward of what the call returned, where the call leaves one to run.
    synchronize
        Waits for the device; nothing on a CPU.
    with_kernels
        Whether the layers around a wrapper are timed with their kernels too, besides with
        stand-ins. Where kernels take long that takes long, and stand-ins tell more.
    with_launches
        Whether a Python wrapper's launches are repeated without it.

    Attributes
    ----------
    with_work : set[str]
        The names of calls that wait for kernels: they take as long as those.
    """

    def __init__(
        self,
        recording: Recording,
        compiled: Any,
        call: Callable[[], Any],
        backward: Callable[[Any], Any] | None,
        synchronize: Callable[[], None] | None,
        *,
        with_kernels: bool = True,
        with_launches: bool = True,
    ) -> None:
        self.recording = recording
        self.timed: dict[str, Timed] = {}
        self.launches: dict[str, int] = {}
        """Name of a unit → how many launches of its Python wrapper are timed separately."""
        self._grad = torch.is_grad_enabled()
        self._compiled = compiled
        self._with_launches = with_launches
        self._whole(call, backward, synchronize)
        for unit in recording.all_units:
            self._unit(unit)
        for frame in recording.frames:
            self._frame(frame)
        if with_kernels and not any(unit.graph.cudagraphs for unit in recording.all_units):
            # A CUDA graph must not be replayed out of order.
            self._with_wrappers()
        self.with_work = {name for name, timed in self.timed.items() if timed.stubs != "all"}

    def _with_wrappers(self) -> None:
        """The same calls without stand-ins, down to the kernels."""
        for name, timed in list(self.timed.items()):
            if name.startswith(REPEATED):
                with_all = msgspec.structs.replace(timed, stubs="none")
                self.timed[name + WITH_ALL_SUFFIX] = with_all

    def _whole(
        self,
        call: Callable[[], Any],
        backward: Callable[[Any], Any] | None,
        synchronize: Callable[[], None] | None,
    ) -> None:
        self.timed[NOTHING] = Timed(call=without_new_compilations(skipped_function, self._compiled))
        self.timed[WHOLE] = Timed(
            call=_synchronized(call, synchronize), stubs="none", restores=True
        )
        self.timed[STUBBED] = Timed(call=call, restores=True)
        if synchronize is not None:
            self.timed[HOST] = Timed(call=call, stubs="none", restores=True)
        if backward is None:
            return

        def both() -> None:
            backward(call())

        self.timed[FORWARD] = Timed(call=call, restores=True)
        self.timed[BACKWARD] = Timed(
            call=_synchronized(both, synchronize), stubs="forward", restores=True
        )
        self.timed[BACKWARD_STUBBED] = Timed(call=both, restores=True)
        if synchronize is not None:
            self.timed[BACKWARD_HOST] = Timed(call=both, stubs="forward", restores=True)

    def _unit(self, unit: Unit) -> None:
        name, graph, inputs = unit.name, unit.graph, unit.inputs
        stub, real = unit.stub, unit.real
        if unit.aot is not None:
            self.timed[f"aot {name}"] = Timed(
                call=unit.aot, grad=unit.aot_grad, alone=graph.direction == "backward"
            )
        self.timed[f"entry {name}"] = Timed(call=lambda: graph.call(list(inputs)), grad=unit.grad)
        self.timed[f"stub {name}"] = Timed(call=lambda: stub(list(inputs)), grad=unit.grad)
        self.timed[f"list {name}"] = Timed(call=lambda: list(inputs), grad=unit.grad)
        if graph.cudagraphs:
            return
        self.timed[f"wrapper {name}"] = Timed(
            call=lambda: real(list(inputs)), grad=unit.grad, stubs="none"
        )
        if self._with_launches and is_python_wrapper(real):
            launches: list[LaunchCall] = []
            # They keep all buffers alive at once. If memory does not suffice, they are timed
            # as part of the wrapper.
            with torch.set_grad_enabled(unit.grad), contextlib.suppress(torch.OutOfMemoryError):
                launches = launches_of(real, list(inputs))
            self.launches[name] = len(launches)
            if launches:
                self.timed[f"launches {name}"] = Timed(
                    call=functools.partial(wrapper_launches.repeat, launches), grad=unit.grad
                )

    def _frame(self, frame: Frame) -> None:
        codes = {DIRECT: frame.call.compiled_code, GUARDED: frame.code}
        if self.recording.single_frame is frame:
            del codes[GUARDED]  # that is the whole call
        for name, code in codes.items():
            call = without_new_compilations(frame.call.bound(code), self._compiled)
            modes = [self._grad, not self._grad]
            mode = next((mode for mode in modes if self._reaches(frame, call, mode)), None)
            if mode is not None:
                self.timed[name.format(frame.compile_id)] = Timed(
                    call=call, grad=mode, restores=True
                )

    def _reaches(self, frame: Frame, call: Callable[[], Any], grad: bool) -> bool:
        """Whether the call runs the graphs that the frame ran, down to their kernels."""
        units = [unit for unit in self.recording.units if unit.frame is frame]
        reached: set[str] = set()
        for unit in units:
            unit.graph.inner = _noting(unit, reached)
        try:
            with torch.set_grad_enabled(grad):
                call()
        except Exception:  # noqa: BLE001 - a frame that cannot be called by itself is not timed
            return False
        finally:
            restore_wrappers(units)
        return reached == {unit.name for unit in units}

    @contextlib.contextmanager
    def ready(
        self, restore: Callable[[], None], synchronize: Callable[[], None] | None
    ) -> Iterator[Callable[[str], None]]:
        """Yields what prepares for a call, by its name; puts all back after the block."""
        units = self.recording.all_units
        with backward_alone() as alone:

            def prepare(name: str) -> None:
                timed = self.timed[name]
                if synchronize is not None:
                    synchronize()
                if timed.restores:
                    restore()
                for unit in units:
                    unit.graph.inner = unit.stub if _stubbed(unit.graph, timed.stubs) else unit.real
                if isinstance(timed.call, BackwardCall):
                    timed.call.renew()
                torch.set_grad_enabled(self._grad if timed.grad is None else timed.grad)
                alone(timed.alone)

            try:
                yield prepare
            finally:
                restore_wrappers(units)
                torch.set_grad_enabled(self._grad)


DIRECT, GUARDED = "direct {}", "guarded {}"
"""The names of a frame's calls: what Dynamo made of it, and through Dynamo."""


def restore_wrappers(units: Iterable[Unit]) -> None:
    """Makes the graphs run their own wrappers again."""
    for unit in units:
        unit.graph.inner = unit.real


def _stubbed(graph: KeptGraph, stubs: Stubs) -> bool:
    return stubs == "all" or (stubs == "forward" and graph.direction != "backward")


def _synchronized(
    call: Callable[[], Any], synchronize: Callable[[], None] | None
) -> Callable[[], Any]:
    if synchronize is None:
        return call

    def both() -> None:
        call()
        synchronize()

    return both


def _noting(unit: Unit, reached: set[str]) -> Callable[[list[Any]], Any]:
    def noting(inputs: list[Any]) -> Any:
        reached.add(unit.name)
        return unit.real(inputs)

    return noting
