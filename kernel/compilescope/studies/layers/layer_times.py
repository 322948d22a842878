"""Computes layers from the times of nested calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import msgspec

from ...measure.layers import Figure, Samples
from ...report.measurements.timings import Layer, LayerKind, Layers
from . import calls as at
from .recording import Frame, Recording, Unit

_Terms = dict[str, float]

STAND_INS = (
    " Measured with stubs that return the wrappers' results at once: the wrappers' own "
    "times vary more."
)
_ENTRY = (
    " It includes Dynamo's entry: the module's __call__, setting modes, the cache lookup. The "
    "Guards view shows a lower cost: it repeats only the checks, with warm CPU caches, whereas in "
    "a call kernels and other processes evict the data that the guards read."
)
GUARDS = f"The whole call minus a call of Dynamo's bytecode.{_ENTRY}"
GUARDS_INNER = f"A call of its frame through Dynamo minus a call of Dynamo's bytecode.{_ENTRY}"
BYTECODE = "A call of Dynamo's bytecode minus a call of its graph."
BROKEN = (
    "A call of Dynamo's bytecode minus its graph and the frames that it calls: the bytecode "
    "itself, and what runs in eager around the graph break."
)
WITH_AOT = " It includes AOTAutograd, which could not be called alone."
AROUND = "The whole call minus its compiled frames."
MERGED = "The whole call minus its compiled graphs: its frames could not be called alone."
ENGINE = (
    "The backward run by the autograd engine minus AOTAutograd's part: the engine, and "
    "operations that are not compiled."
)
AOT = "A call of the graph that the bytecode calls minus a call of Inductor's entry point."
AOT_BACKWARD = "A call of the autograd function's backward minus a call of Inductor's entry point."
INDUCTOR = "A call of Inductor's CompiledFxGraph minus a call of the wrapper."
WRAPPER = "A call of the wrapper{less}."
LESS_LAUNCHES = " minus its launches"
LESS_KERNELS = " minus its kernels"
LAUNCHES_CPU = "Its {count} launches repeated without the wrapper, minus the kernels' own time."
KERNELS_AGAIN = "Its {count} launches repeated without the wrapper, the launching included."
LAUNCHES_GPU = "Its {count} launches repeated without the wrapper, until the host has finished."
LAUNCHES_DRIVER = "Driver calls in the wrapper, measured by torch's profiler."
REPLAY = (
    "The whole call minus the same call with stubs for the CUDA graphs: the cost of replaying them."
)
COMPILED = "A call of the wrapper, the kernels included."
SLOWED = (
    " The kernels alone took {us:.1f} µs under torch's profiler, which slows kernels this short "
    "down: their share is not known."
)
KERNELS_CPU = "The ranges of kernels and library calls, measured by torch's profiler."
_IDLE = (
    "The device finishes later than the kernels' own time explains: there are gaps between kernels."
)
_KERNELS_GPU = (
    "Their time on the device, measured by torch's profiler; {us:.1f} µs of it "
    "overlap with the host."
)


_WITHIN: tuple[LayerKind, ...] = ("wrapper", "launches", "kernels", "compiled")
_NOISE = 0.5
"""Relative noise of the time around the wrappers above which stubs are more precise."""


class Costs(msgspec.Struct, kw_only=True):
    """Further figures of a unit's kernels, for one run."""

    kernels: Figure | None = None
    driver: Figure | None = None
    """On a GPU, the driver's calls in a C++ wrapper."""


class LayerTimes:
    """The layers of a recorded call.

    Parameters
    ----------
    breaks
        torch's compile ids of the frames that have a graph break.
    launches
        Name of a unit → how many launches are timed as its launches.
    device
        Whether kernels run on a GPU.
    """

    def __init__(
        self,
        samples: Samples,
        recording: Recording,
        *,
        breaks: Collection[str],
        launches: Mapping[str, int],
        costs: Mapping[str, Costs],
        device: bool,
    ) -> None:
        self._samples = samples
        self._recording = recording
        self._breaks = breaks
        self._launches = launches
        self._costs = costs
        self._device = device
        self._real: dict[str, str] = {}

    def of_call(self) -> list[Layer]:
        """The layers of the subject's call, outermost first."""
        whole = at.HOST if at.HOST in self._samples else at.WHOLE
        self._choose(whole, at.STUBBED, self._recording.units)
        return self._frames() + self._units(self._recording.units, at.WHOLE, at.STUBBED)

    def of_backward(self) -> list[Layer]:
        """The layers of the backward of what the call returned."""
        units = self._recording.backward
        whole = at.BACKWARD_HOST if at.BACKWARD_HOST in self._samples else at.BACKWARD
        self._choose(whole, at.BACKWARD_STUBBED, units)
        rest: _Terms = {at.BACKWARD_STUBBED: 1.0, at.FORWARD: -1.0}
        for unit in units:
            _add(rest, self._top(unit), -unit.runs)
        engine = self._layer("eager", rest, "", ENGINE)
        return [engine, *self._units(units, at.BACKWARD, at.BACKWARD_STUBBED)]

    def _choose(self, whole: str, stubbed: str, units: list[Unit]) -> None:
        """Whether to subtract times of complete calls, or of calls with stand-ins.

        Kernels evict the data of the layers around them from the processor's caches, so differences
        of complete calls are what a call really costs. If kernels take long, they vary by more than
        the layers take; then only stand-ins can measure the layers.
        """
        self._real = {}
        if any(unit.graph.cudagraphs for unit in units):
            return
        if not any(name.endswith(at.WITH_ALL_SUFFIX) for name in self._samples.names):
            return
        around: _Terms = {whole: 1.0}
        if whole in (at.BACKWARD, at.BACKWARD_HOST):
            around[at.FORWARD] = -1.0
        for unit in units:
            _add(around, {f"wrapper {unit.name}": 1.0}, -unit.runs)
        figure = self._samples.figure(around)
        # Disturbances only make times longer; the spread below the median is the call's own.
        if figure.interval is None or figure.us - figure.interval[0] > _NOISE * figure.us:
            return
        self._real = {stubbed: whole}
        for name in self._samples.names:
            if name.startswith(at.REPEATED) and not name.endswith(at.WITH_ALL_SUFFIX):
                self._real[name] = name + at.WITH_ALL_SUFFIX
            elif name.startswith("stub "):
                self._real[name] = name.replace("stub", "wrapper", 1)

    def _layer(self, kind: LayerKind, terms: _Terms, compilation: str, how: str) -> Layer:
        around = kind not in _WITHIN
        if around:
            terms = {self._real.get(name, name): count for name, count in terms.items()}
        figure = self._samples.figure(terms)
        return Layer(
            kind=kind,
            us=max(figure.us, 0.0),
            interval_us=_above_zero(figure.interval),
            compilation=compilation,
            how=how if self._real or not around else how + STAND_INS,
        )

    def _top(self, unit: Unit) -> _Terms:
        """The outermost call of a unit alone that is timed."""
        name = f"aot {unit.name}"
        return {name if name in self._samples else f"entry {unit.name}": 1.0}

    # Frames ----------------------------------------------------------------------------------

    def _frames(self) -> list[Layer]:
        frames = self._recording.frames
        units = self._recording.units
        sole = self._recording.single_frame
        timed = all(self._times(frame, frame is sole) for frame in frames)
        if not frames or not timed:
            rest: _Terms = {at.STUBBED: 1.0}
            for unit in units:
                _add(rest, self._top(unit), -unit.runs)
            return [self._layer("other", rest, "", MERGED)]
        layers = []
        if sole is None:
            rest = {at.STUBBED: 1.0}
            for frame in frames:
                if frame.parent is None:
                    _add(rest, self._guarded_terms(frame), -frame.calls)
            for unit in units:
                if unit.frame is None:
                    _add(rest, self._top(unit), -unit.runs)
            layers.append(self._layer("eager", rest, "", AROUND))
        for frame in frames:
            layers += self._frame(frame, frame is sole)
        return layers

    def _times(self, frame: Frame, whole: bool) -> bool:
        """Whether the frame's calls are timed; of the one that is the whole call, one is enough."""
        names = [at.DIRECT] if whole else [at.DIRECT, at.GUARDED]
        return all(name.format(frame.compile_id) in self._samples for name in names)

    def _guarded_terms(self, frame: Frame) -> _Terms:
        return {at.GUARDED.format(frame.compile_id): 1.0, at.NOTHING: -1.0}

    def _frame(self, frame: Frame, whole: bool) -> list[Layer]:
        direct: _Terms = {at.DIRECT.format(frame.compile_id): 1.0, at.NOTHING: -1.0}
        guards: _Terms = {}
        _add(guards, {at.STUBBED: 1.0} if whole else self._guarded_terms(frame), frame.calls)
        _add(guards, direct, -frame.calls)
        bytecode: _Terms = {}
        _add(bytecode, direct, frame.calls)
        units = [unit for unit in self._recording.units if unit.frame is frame]
        for unit in units:
            _add(bytecode, self._top(unit), -unit.runs)
        inner = [child for child in self._recording.frames if child.parent is frame]
        for child in inner:
            _add(bytecode, self._guarded_terms(child), -child.calls)
        name = frame.compile_id
        broken = bool(inner) or name in self._breaks
        whole_aot = all(f"aot {unit.name}" in self._samples for unit in units)
        more = "" if whole_aot else WITH_AOT
        return [
            self._layer("guards", guards, name, GUARDS if whole else GUARDS_INNER),
            self._layer("eager", bytecode, name, BROKEN + more)
            if broken
            else self._layer("bytecode", bytecode, name, BYTECODE + more),
        ]

    # Graphs ----------------------------------------------------------------------------------

    def _units(self, units: list[Unit], whole: str, stubbed: str) -> list[Layer]:
        layers: list[Layer] = []
        for unit in units:
            layers += self._entries(unit)
            if not unit.graph.cudagraphs:
                layers += self._wrapper(unit)
        replayed = [unit for unit in units if unit.graph.cudagraphs]
        if replayed:
            layers.append(self._replay(replayed, units, whole, stubbed))
        for unit in units:
            kernels = self._costs.get(unit.name, Costs()).kernels
            if kernels is not None and self._device:
                layers.append(_on_device(unit, kernels))
        return layers

    def _entries(self, unit: Unit) -> list[Layer]:
        aot, entry, stub = (f"{part} {unit.name}" for part in ("aot", "entry", "stub"))
        compilation, runs = unit.graph.compile_id, float(unit.runs)
        layers = []
        if aot in self._samples:
            how = AOT_BACKWARD if unit.graph.direction == "backward" else AOT
            layers.append(self._layer("aot", {aot: runs, entry: -runs}, compilation, how))
        layers.append(self._layer("inductor", {entry: runs, stub: -runs}, compilation, INDUCTOR))
        return layers

    def _wrapper(self, unit: Unit) -> list[Layer]:
        """The wrapper, what it launches and, where they run on the host, the kernels."""
        repeated_launches = f"launches {unit.name}"
        wrapper_terms: _Terms = {f"wrapper {unit.name}": 1.0, f"list {unit.name}": -1.0}
        costs = self._costs.get(unit.name, Costs())
        if repeated_launches in self._samples:
            count = self._launches[unit.name]
            rest = {**wrapper_terms, repeated_launches: -1.0}
            wrapper = self._part("wrapper", unit, rest, WRAPPER.format(less=LESS_LAUNCHES))
            if self._device:
                how = LAUNCHES_GPU.format(count=count)
                return [wrapper, self._part("launches", unit, {repeated_launches: 1.0}, how)]
            if costs.kernels is None:
                how = KERNELS_AGAIN.format(count=count)
                return [wrapper, self._part("kernels", unit, {repeated_launches: 1.0}, how)]
            launches = self._part(
                "launches", unit, {repeated_launches: 1.0}, LAUNCHES_CPU.format(count=count)
            )
            return [wrapper, launches, self._inner_layer("kernels", unit, launches, costs.kernels)]
        kind: LayerKind = "launches" if self._device else "kernels"
        inside = costs.driver if self._device else costs.kernels
        if inside is None and not self._device:
            return [self._part("compiled", unit, wrapper_terms, COMPILED)]
        wrapper = self._part("wrapper", unit, wrapper_terms, WRAPPER.format(less=""))
        if inside is None:
            return [wrapper]
        if kind == "kernels" and inside.us * unit.runs >= wrapper.us:
            how = COMPILED + SLOWED.format(us=inside.us)
            return [self._part("compiled", unit, wrapper_terms, how)]
        wrapper.how = WRAPPER.format(less=LESS_LAUNCHES if self._device else LESS_KERNELS)
        return [wrapper, self._inner_layer(kind, unit, wrapper, inside)]

    def _part(self, kind: LayerKind, unit: Unit, terms: _Terms, how: str) -> Layer:
        """A layer of a unit, from what it is in one run."""
        times = {name: count * unit.runs for name, count in terms.items()}
        return self._layer(kind, times, unit.graph.compile_id, how)

    def _inner_layer(self, kind: LayerKind, unit: Unit, around: Layer, figure: Figure) -> Layer:
        """A layer that is part of another, whose time is subtracted from that one.

        It is at most as long as the other, which then has no interval.
        """
        share = min(figure.us * unit.runs, around.us)
        interval = None
        if figure.interval is not None:
            low, high = (bound_us * unit.runs for bound_us in figure.interval)
            interval = (min(low, share), max(high, share))
        around.us -= share
        around.interval_us = None
        return Layer(
            kind=kind,
            us=share,
            interval_us=interval,
            compilation=around.compilation,
            how=KERNELS_CPU if kind == "kernels" else LAUNCHES_DRIVER,
        )

    def _replay(self, replayed: list[Unit], units: list[Unit], whole: str, stubbed: str) -> Layer:
        host = {at.WHOLE: at.HOST, at.BACKWARD: at.BACKWARD_HOST}[whole]
        terms: _Terms = {host if host in self._samples else whole: 1.0, stubbed: -1.0}
        for unit in units:
            if not unit.graph.cudagraphs:
                terms |= {f"wrapper {unit.name}": -unit.runs, f"list {unit.name}": unit.runs}
        ids = {unit.graph.compile_id for unit in replayed}
        return self._layer("launches", terms, ids.pop() if len(ids) == 1 else "", REPLAY)


def _above_zero(interval: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if interval is None else (max(interval[0], 0.0), max(interval[1], 0.0))


def _on_device(unit: Unit, figure: Figure) -> Layer:
    us = figure.us * unit.runs
    return Layer(kind="kernels", us=us, compilation=unit.graph.compile_id, device_us=us)


def _add(terms: _Terms, more: Mapping[str, float], count: float) -> None:
    for name, times in more.items():
        terms[name] = terms.get(name, 0.0) + times * count


def merged(layers: list[Layer]) -> list[Layer]:
    """One layer for each kind and compilation: of its forward and its backward, of several runs."""
    grouped: dict[tuple[str, str], list[Layer]] = defaultdict(list)
    for layer in layers:
        grouped[layer.kind, layer.compilation].append(layer)
    return [_sum(same) if len(same) > 1 else same[0] for same in grouped.values()]


def reduce_to_waited_time(layers: Layers) -> None:
    """Reduces the kernels' time on a GPU to the part that the host waits for.

    The rest overlaps with the host's work. Any other time that the host waits is idle.
    """
    kernels = [layer for layer in layers.layers if layer.kind == "kernels"]
    host = sum(layer.us for layer in layers.layers if layer.kind != "kernels")
    busy = sum(kernel.us for kernel in kernels)
    waits = max(layers.whole_us - host, 0.0)
    shown = min(waits, busy)
    for kernel in kernels:
        total = kernel.us
        kernel.us = total * shown / busy if busy else 0.0
        kernel.interval_us = None
        kernel.how = _KERNELS_GPU.format(us=total - kernel.us)
    if waits > shown:
        layers.layers.append(Layer(kind="idle", us=waits - shown, how=_IDLE))


def _sum(layers: list[Layer]) -> Layer:
    device = [layer.device_us for layer in layers if layer.device_us is not None]
    return msgspec.structs.replace(
        layers[0],
        us=sum(layer.us for layer in layers),
        interval_us=None,
        how=" ".join(dict.fromkeys(layer.how for layer in layers if layer.how)),
        device_us=sum(device) if device else None,
    )
