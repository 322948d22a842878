"""The study of layers: where one call's time goes."""

from __future__ import annotations

import contextlib
import functools
import shutil
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import torch

from ...analysis.figures.counts import always_recompiles
from ...analysis.overview.variants import trains
from ...builds.built_variants import VariantBuild
from ...builds.comparison.call_result import leaves
from ...isolation.muted_output import quiet
from ...isolation.state_changes import changes_of
from ...isolation.user_state import Snapshot
from ...measure.garbage_collection import gc_disabled
from ...measure.layer_kernels import kernels_of
from ...measure.layers import MIN_ROUNDS, SECONDS, Samples, figure, sample_layers
from ...measure.warm_calls import WarmCalls
from ...report import Layer, Layers, Variant, VariantReport
from ...report.units import duration
from ...torch_api.dynamo.compiled_graphs import KeptLayers
from ...torch_api.inductor.wrappers.wrapper_launches import is_python_wrapper
from ...torch_api.kernels import timers
from ...torch_api.kernels.driver_calls import driver_us
from ...torch_api.process import caches
from ...torch_api.process.devices import waiting_for
from ..builds import build_for
from ..context import StudyContext
from . import calls as at
from .calls import Calls
from .layer_times import Costs, LayerTimes, merged, reduce_to_waited_time
from .recording import Recording, Unit, backwards_of, record

_PROFILED = 40
"""Calls that are profiled for the kernels' time."""
_WARM = 3
_MIN_ROUNDS_OF_EXISTING = 3
"""Rounds of an existing build, which is called without a request: enough for the shares of a call
that takes long, without an interval."""
SHORT_S = 0.5
"""How long a call takes at most, with its backward, of which an existing build's rounds have
several calls. Of a longer one each layer with kernels in it is called once or a few times."""
_MAX_COMPILATIONS = 24
_TOLERANCE = 0.1

NOT_BUILT = "The variant could not be built again. {}"
NO_GRAPH = "The call runs no graph that Inductor compiled."
ALWAYS_RECOMPILES = (
    "Every call recompiles, up to torch's limit, and then runs in eager: there is no time of "
    "compiled code to break down."
)
GRAPHS_TRAIN = (
    "With CUDA graphs, a forward is replayed only if its backward follows, so neither can be "
    "measured alone."
)
TOO_MANY = "The call runs {count} compiled graphs; layers are measured for at most {most}."


def study_layers(study: StudyContext) -> None:
    """Fills the layers of a built variant.

    It is built again, with timers around its kernels, unless the study may call an existing build:
    on a processor that shows kernels together with their launches. A C++ wrapper is built once more
    without timers: there each takes about 1 µs, so that build only tells the kernels' own times.
    """
    if always_recompiles(study.report):
        study.report.absent["layers"] = ALWAYS_RECOMPILES
        return
    if study.existing is not None:
        _study_existing(study, study.existing)
        return
    variant = study.report.requested
    with_timers = msgspec.structs.replace(variant, options={**variant.options, **timers.SETTINGS})
    if _on_gpu_alone(study):
        _study_build(study, variant)
    elif builds_of(variant) == 1:
        _study_build(study, with_timers)
    else:
        profiled = _study_build(study, with_timers, profile_only=True)
        if profiled is not None:
            _study_build(study, variant, profiled=profiled)


def builds_of(variant: Variant) -> int:
    """How often a variant is built to measure its layers on a CPU."""
    return 2 if variant.cpp_wrapper else 1


def _study_build(
    study: StudyContext,
    variant: Variant,
    *,
    profile_only: bool = False,
    profiled: _Profiled | None = None,
) -> _Profiled | None:
    """Builds a variant and measures its layers, or only its kernels.

    Parameters
    ----------
    profiled
        What was measured of the kernels in another build.

    Returns
    -------
    _Profiled or None
        With ``profile_only``, what was measured of the kernels. None: the report says why there
        are no layers.
    """
    report = study.report
    study.monitor.step("building to measure layers", variant=report.name, fraction=0.1)
    folder = caches.new_folder()
    try:
        study.snapshot.restore()
        with caches.only(folder):
            built = build_for(study, variant, folder)
            if built.problem is not None:
                report.absent["layers"] = NOT_BUILT.format(built.problem.what)
                return None
            study.snapshot.restore()
            measurement = _LayerMeasurement(study, built.call, built.layers, profiled)
            if profile_only:
                return measurement.profile()
            measurement.measure()
    finally:
        study.snapshot.restore()
        shutil.rmtree(folder, ignore_errors=True)
    return None


class _Profiled(msgspec.Struct):
    """What a profile says of the kernels of each compiled graph, in the order in which they ran."""

    costs: list[Costs | None]
    missing: str
    """Why figures are missing."""


def _study_existing(study: StudyContext, build: VariantBuild) -> None:
    try:
        with caches.scratch():
            _LayerMeasurement(study, build.compiled, build.layers).measure()
    finally:
        study.snapshot.restore()


def _on_gpu_alone(study: StudyContext) -> bool:
    """Whether the variant has kernels and none of them is C++."""
    languages = [
        kernel.language
        for compilation in study.report.compilations
        for kernel in compilation.kernels
    ]
    return "triton" in languages and "cpp" not in languages


class _LayerMeasurement:
    """One measurement of a variant that was built with its layers kept."""

    def __init__(
        self,
        study: StudyContext,
        compiled: Callable[..., Any],
        layers: KeptLayers,
        profiled: _Profiled | None = None,
    ) -> None:
        self._study = study
        self._profiled = profiled
        self._recorded = layers
        self._graphs = layers.graphs
        self._frames = layers.frames
        self._names = layers.ids
        self._snapshot = study.snapshot
        self._restores = False
        self._backward: Callable[[Any], Any] | None = None
        self._around = contextlib.ExitStack()
        """What is undone after the measurement."""
        self._own_backward = study.snapshot.backward.without_gradients()
        self._compiled = compiled
        self._call = functools.partial(compiled, *study.args, **study.kwargs)
        self._grad = torch.is_grad_enabled()
        self._seeds: list[torch.Tensor] = []
        self._long = study.existing is not None and call_s(study.report) > SHORT_S
        self._all_leaves = [
            tensor
            for tensor in study.snapshot.tensors.values()
            if tensor.is_leaf and tensor.requires_grad
        ]
        self._leaves = [leaf for leaf in self._all_leaves if leaf.grad is None]
        """The leaves that hold no gradient before the measurement."""
        self._device = any(
            "cuda" in (kept_graph.graph.device_types or ()) for kept_graph in self._graphs
        )
        numbers = {number for kept in self._graphs for number in kept.graph.device_idxs or ()}
        self._sync = waiting_for(numbers) if self._device else None

    def measure(self) -> None:
        """Warms the call up, measures its layers and adds them to the report."""
        with self._recorded.recording(), quiet(), self._around:
            self.warm_up()
            self.fill()

    def profile(self) -> _Profiled:
        """Warms the call up, and measures its kernels only."""
        self._study.monitor.step("profiling kernels", variant=self._study.report.name, fraction=0.3)
        with self._recorded.recording(), quiet(), self._around:
            self.warm_up()
            restore = self._snapshot.restore
            recording = record(self._call, self._backward, restore, self._graphs, self._frames)
            units = recording.all_units
            if len(units) > _MAX_COMPILATIONS:
                return _Profiled([], "")
            costs, missing = self._costs(recording, self._backward)
        return _Profiled([costs.get(unit.name) for unit in units], missing)

    def fill(self) -> None:
        """Measures the layers and adds them to the report."""
        study, report = self._study, self._study.report
        backward, restore = self._backward, self._snapshot.restore
        study.monitor.step("measuring layers", variant=report.name, fraction=0.5)
        recording = record(self._call, backward, restore, self._graphs, self._frames)
        count = len(recording.all_units)
        if not count or count > _MAX_COMPILATIONS:
            report.absent["layers"] = (
                TOO_MANY.format(count=count, most=_MAX_COMPILATIONS) if count else NO_GRAPH
            )
            return
        if backward is not None and any(unit.graph.cudagraphs for unit in recording.all_units):
            report.absent["layers"] = GRAPHS_TRAIN
            return
        if self._profiled is None:
            costs, missing = self._costs(recording, backward)
        else:
            costs, missing = _matched(self._profiled, recording.all_units)
        calls = Calls(
            recording,
            self._compiled,
            self._call,
            backward,
            self._sync,
            with_kernels=study.existing is None,
            # On a GPU, launches take no longer for what they launch.
            with_launches=self._device or not self._long,
        )
        restore()
        compiled = len(self._frames)
        samples = self._samples(calls)
        if len(self._frames) > compiled:
            missing = f"{missing} {RECOMPILED}".strip()
        parts = LayerTimes(
            samples,
            recording,
            breaks=self._broken(),
            launches=calls.launches,
            costs=costs,
            device=self._device,
        )
        direction = "inference"
        if any(unit.graph.direction == "backward" for unit in recording.units):
            direction = "step"
        elif recording.backward:
            direction = "forward"
        directions = [
            self._layers(
                direction, parts.of_call(), samples, {at.WHOLE: 1.0}, {at.HOST: 1.0}, missing
            )
        ]
        if recording.backward:
            whole, host = {at.BACKWARD: 1.0}, {at.BACKWARD_HOST: 1.0}
            for terms in (whole, host):
                terms[at.FORWARD] = -1.0
            directions.append(
                self._layers("backward", parts.of_backward(), samples, whole, host, missing)
            )
        report.layers = directions
        report.absent.pop("layers", None)

    def warm_up(self) -> None:
        """Calls until nothing is compiled any more, and keeps the resulting state.

        An optimizer makes its state in the first call; on a GPU, CUDA graphs are recorded.
        """
        has_backward = False
        for _ in range(_WARM if self._study.existing is None else 1):
            self._study.monitor.check()
            with backwards_of(self._graphs) as ran:
                output = self._call()
            has_backward = has_backward or bool(ran)
            roots = [] if has_backward else _roots(output)
            self._seeds = [torch.ones_like(root) for root in roots]
            if roots:
                self._run_backward(output)
            del output, roots
        if self._seeds:
            # What keeps the user's gradients apart is no part of a backward's time.
            is_plain = self._own_backward.is_plain()
            self._backward = self._run_plain if is_plain else self._run_backward
            if is_plain:
                self._around.enter_context(self._own_backward.without_old_gradients())
        study = self._study
        if changes_of(study.snapshot):
            self._restores = True
            self._snapshot = Snapshot(study.fn, study.args, study.kwargs)

    def _run_backward(self, output: Any) -> None:
        self._own_backward.run(_roots(output), self._seeds)
        for leaf in self._leaves:
            leaf.grad = None

    def _run_plain(self, output: Any) -> None:
        torch.autograd.backward(_roots(output), self._seeds)
        for leaf in self._all_leaves:
            leaf.grad = None

    def _samples(self, calls: Calls) -> Samples:
        def restore() -> None:
            if self._restores:
                self._snapshot.restore()

        with calls.ready(restore, self._sync) as prepare:
            self._study.monitor.step("timing layers", variant=self._study.report.name, fraction=0.8)
            return sample_layers(
                {name: timed.call for name, timed in calls.timed.items()},
                before_each=prepare,
                budget_s=SECONDS,
                fewest=MIN_ROUNDS if self._study.existing is None else _MIN_ROUNDS_OF_EXISTING,
                slow=calls.with_work if self._long else (),
                check=self._study.monitor.check,
            )

    def _costs(
        self, recording: Recording, backward: Callable[[Any], Any] | None
    ) -> tuple[dict[str, Costs], str]:
        """The profiler's figures for each unit, and which are missing."""
        if timers.is_profiling():
            return {}, PROFILING
        if self._study.existing is not None and not _on_gpu_alone(self._study):
            return {}, ""  # no timers are around its kernels

        def whole() -> None:
            output = self._call()
            if backward is not None:
                backward(output)

        costs = {}
        for unit in recording.all_units:
            self._study.monitor.check()
            profiler = timers.Profiler(device=self._device)
            # A CUDA graph must not be replayed out of order.
            call = whole if unit.graph.cudagraphs else unit.run
            with torch.set_grad_enabled(self._grad if unit.graph.cudagraphs else unit.grad):
                profiled = 1 if self._long else _PROFILED
                before = _nothing if self._device or self._long else WarmCalls(call)
                with gc_disabled():
                    profiler.profile(call, calls=profiled, before=before)
            kernels = kernels_of(
                profiler.calls,
                str(unit.graph.graph.source_code),
                empty_ns=profiler.empty_ns,
                device=self._device,
            )
            driver = None
            if self._device and not unit.graph.cudagraphs and not is_python_wrapper(unit.real):
                driver = figure(driver_us(unit.real, unit.inputs, grad=unit.grad))
            costs[unit.name] = Costs(kernels=kernels, driver=driver)
        self._snapshot.restore()
        return costs, ""

    def _broken(self) -> set[str]:
        broken = {
            compilation.id for compilation in self._study.report.compilations if compilation.breaks
        }
        return {compile_id for compile_id, name in self._names.items() if name in broken}

    def _layers(
        self,
        direction: Any,
        layers: list[Layer],
        samples: Samples,
        whole: Mapping[str, float],
        host: Mapping[str, float],
        missing: str,
    ) -> Layers:
        measured = samples.figure(whole)
        layers = merged(layers)
        for layer in layers:
            layer.compilation = _named(layer.compilation, self._names)
        result = Layers(
            direction=direction,
            whole_us=measured.us,
            whole_interval_us=measured.interval,
            layers=layers,
            why=missing,
            device="cuda" if self._device else "cpu",
        )
        expected = measured.us
        if self._device:
            expected = samples.figure(host).us
            reduce_to_waited_time(result)
            sum_us = sum(layer.us for layer in layers if layer.kind not in ("kernels", "idle"))
        else:
            sum_us = sum(layer.us for layer in layers)
        result.add_up()
        result.agrees = abs(sum_us - expected) <= _TOLERANCE * expected
        if not result.agrees:
            result.why = " ".join(filter(None, [_disagreement(result, sum_us, expected), missing]))
        return result


def _matched(profiled: _Profiled, units: Sequence[Unit]) -> tuple[dict[str, Costs], str]:
    """What another build's profile says of these graphs, and why figures are missing."""
    if len(profiled.costs) != len(units):
        return {}, profiled.missing or OTHER_GRAPHS
    pairs = zip(units, profiled.costs, strict=True)
    return {unit.name: costs for unit, costs in pairs if costs is not None}, profiled.missing


OTHER_GRAPHS = "The build with timers runs other graphs, so the kernels' own time is not known."
PROFILING = "torch's profiler is already running, so the kernels' own time was not measured."
RECOMPILED = "torch recompiled while the layers were timed: calls change what its guards check."
LAYERS_DISAGREE = (
    "The breakdown is a separate run, in which the layers add up to {own}, but {whole} took "
    "{expected}. Layers are timed one by one, with warm caches: other load on the machine makes "
    "them disagree."
)


def call_s(variant: VariantReport) -> float:
    """About how long a call takes, with its backward where it has one; 0 if it was not timed."""
    timed_s = 0.0 if variant.timing is None else variant.timing.median_us / 1e6
    return timed_s * _OF_A_STEP if trains(variant) else timed_s


_OF_A_STEP = 3
"""About how many forwards a forward with its backward takes."""


def _nothing() -> None:
    """Comes before a profiled call."""


def _disagreement(layers: Layers, sum_us: float, expected: float) -> str:
    whole = "a backward" if layers.direction == "backward" else "a call"
    if layers.device != "cpu":
        whole = f"the host's part of {whole}"
    return LAYERS_DISAGREE.format(own=duration(sum_us), expected=duration(expected), whole=whole)


def _named(torch_id: str, names: Mapping[str, str]) -> str:
    """The report's compile id; a frame that was recompiled later continues the numbering."""
    frame, _, number = torch_id.rpartition("/")
    alike = (name for other_id, name in names.items() if other_id.rpartition("/")[0] == frame)
    first = next(alike, None)
    if torch_id in names or first is None:
        return names.get(torch_id, torch_id)
    return f"{first.rpartition('/')[0]}/{number}"


def _roots(output: Any) -> list[torch.Tensor]:
    """The outputs that a backward can begin with."""
    return [
        value
        for _, value in leaves(output)
        if isinstance(value, torch.Tensor)
        and value.requires_grad
        and value.grad_fn is not None
        and not value.is_complex()
    ]
