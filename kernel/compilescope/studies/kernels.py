"""The study of kernels: how long each launch of a variant takes on its device."""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from ..analysis.text.wrapper_marks import without_number
from ..analysis.wrapper.split import split
from ..builds.build import Built
from ..builds.comparison.call_result import outcome_of
from ..isolation.muted_output import quiet
from ..measure.garbage_collection import gc_disabled
from ..measure.kernel_launches import Graph, graphs_of
from ..measure.kernel_report import (
    BuildMeasurements,
    Patterns,
    Runs,
    artifact_of,
    fill,
    learn_patterns,
)
from ..measure.warm_calls import WarmCalls
from ..report import VariantReport
from ..torch_api.dynamo.compile_variant import settings_of
from ..torch_api.kernels import timers
from ..torch_api.kernels.profiler_events import GraphRun, ProfiledCall
from ..torch_api.process import caches
from .builds import build_for
from .context import ALREADY_PROFILING, StudyContext

SECONDS = 2.0
"""About how long calls are profiled."""
_FEWEST, _MOST = 10, 50
"""Calls that are profiled."""
_WARM_UP = 3
"""Calls before: the second of a CUDA graph records it."""
_FIRST_CALLS = 6
"""Calls from the initial state, for graphs that run only then."""
_IN_A_ROW = 10
"""Calls in one profile, between two checks of the time."""
_EVENTS = 100_000
"""Launches that are kept: after so many, no further call is profiled."""

NOT_BUILT = "The variant could not be built again with timers in its kernels. {}"
OTHER_DEVICE = "Kernels are timed on CPUs, and on GPUs with CUDA or ROCm."
HOW_BUILT = "Built for this, with cpp.enable_kernel_profile."


def study_kernels(study: StudyContext) -> None:
    """Fills the times of the launches of a built variant."""
    report, variant = study.report, study.report.requested
    if timers.is_profiling():
        report.absent["kernel_times"] = ALREADY_PROFILING
        return
    devices = _devices(report)
    if devices - {"cpu", "cuda", "meta"}:
        report.absent["kernel_times"] = OTHER_DEVICE
        return
    languages = {
        kernel.language for compilation in report.compilations for kernel in compilation.kernels
    }
    timer_settings = timers.SETTINGS if "cpp" in languages else {}
    on_device = "cuda" in devices
    patterns: Patterns = {}
    if on_device and settings_of(variant).get("triton.cudagraphs"):
        # Which library call starts which kernels is visible only without CUDA graph replay.
        plain = _measured(study, {**timer_settings, "triton.cudagraphs": False}, on_device, 0.0)
        if plain is not None:
            patterns = learn_patterns(plain)
    study.monitor.check()
    measured = _measured(study, timer_settings, on_device, SECONDS)
    if measured is None:
        return
    report.absent.pop("kernel_times", None)
    fill(report, study.peaks, measured, patterns)


def _measured(
    study: StudyContext, options: Mapping[str, Any], on_device: bool, seconds: float
) -> BuildMeasurements | None:
    """Builds the variant with options of the study's own, and profiles its calls."""
    report = study.report
    variant = msgspec.structs.replace(
        report.requested, options={**report.requested.options, **options}
    )
    study.monitor.step("building with timers", variant=report.name, fraction=0.1)
    folder = caches.new_folder()
    try:
        study.snapshot.restore()
        built = build_for(study, variant, folder)
        if built.problem is not None:
            report.absent["kernel_times"] = NOT_BUILT.format(built.problem.what)
            return None
        study.monitor.step("timing kernels", variant=report.name, fraction=0.6)
        graphs = graphs_of(built.compilations, report.compilations, artifact_of(report))
        with quiet(), caches.only(folder):  # a call may compile once more
            profiler = _profiled(study, built, on_device, seconds)
            calls = _sorted_runs(profiler.calls, graphs)
            if len(_graphs_that_ran(calls)) < len(graphs):
                calls = _with_first_calls(study, built, profiler, graphs, len(calls))
    finally:
        study.snapshot.restore()
        shutil.rmtree(folder, ignore_errors=True)
    return BuildMeasurements(
        graphs=graphs,
        calls=calls,
        empty_ns=profiler.empty_ns,
        inner_ns=profiler.inner_ns,
        on_device=on_device,
        built_with=HOW_BUILT if timers.SETTINGS.keys() <= options.keys() else "",
    )


def _profiled(
    study: StudyContext, built: Built, on_device: bool, seconds: float
) -> timers.Profiler:
    """Warms up, then profiles calls until the time is up: one at least.

    State carries over from call to call: restoring it would make an optimizer's step recompile,
    and would evict other data from the caches. On a CPU, calls that are not recorded come right
    before each profiled one; a GPU's times do not depend on the host's memory.
    """
    call = _call(study, built)
    for _ in range(_WARM_UP):
        study.monitor.check()
        call()
    profiler = timers.Profiler(device=on_device)
    check = study.monitor.check
    before = check if on_device else WarmCalls(call, check)
    end = time.perf_counter() + seconds
    profiler.profile(call, calls=1, before=check)
    entries = 0
    while seconds and len(profiler.calls) < _MOST and entries < _EVENTS:
        if time.perf_counter() > end and len(profiler.calls) > _FEWEST:
            break
        with gc_disabled():
            profiler.profile(call, calls=_IN_A_ROW, before=before)
        entries = sum(
            len(run.spans) for profiled_call in profiler.calls for run in profiled_call.runs
        )
    if seconds:
        del profiler.calls[0]  # the profiler's own first call is slow
    return profiler


def _with_first_calls(
    study: StudyContext,
    built: Built,
    profiler: timers.Profiler,
    graphs: Sequence[Graph],
    count: int,
) -> Runs:
    """Adds calls from the initial state, for graphs that run only then.

    An optimizer's first step differs from later ones.
    """
    for _ in range(_FIRST_CALLS):
        profiler.profile(_call(study, built), calls=1, before=study.snapshot.restore)
        study.monitor.check()
    calls = _sorted_runs(profiler.calls, graphs)
    graphs_in_all = _graphs_that_ran(calls[:count])
    return calls[:count] + [
        [(place, run) for place, run in call if place not in graphs_in_all]
        for call in calls[count:]
    ]


def _call(study: StudyContext, built: Built) -> Callable[[], object]:
    backward = study.snapshot.backward.without_gradients()
    # Without copies, whose memory the next call would find in place of its own.
    return lambda: outcome_of(
        built.call(*study.args, **study.kwargs), backward, copy=lambda tensor: tensor
    )


def _graphs_that_ran(calls: Runs) -> set[int]:
    return {place for call in calls for place, _ in call}


def _devices(report: VariantReport) -> set[str]:
    """The kinds of devices that the variant's graphs work on."""
    return {
        node.device.partition(":")[0]
        for compilation in report.compilations
        for graph in compilation.graphs.values()
        for node in graph.nodes
        if node.device
    }


def _sorted_runs(calls: Sequence[ProfiledCall], graphs: Sequence[Graph]) -> Runs:
    """The runs of known graphs, call by call.

    Equal frames have the same code; their graphs are distinguished by the order of their first
    runs. Code that was recompiled and is equal counts as the existing one.
    """
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, graph in enumerate(graphs):
        places[_without_number(graph.source)].append(position)
    numbers: dict[int, int | None] = {}
    for run in sorted((run for profiled_call in calls for run in profiled_call.runs), key=_started):
        if run.graph not in numbers:
            parts = split(run.source)
            left = places[
                _without_number(
                    (parts.python, None) if parts.python is not None else (parts.cpp, parts.shell)
                )
            ]
            if left:
                numbers[run.graph] = left[0] if len(left) == 1 else left.pop(0)
            else:
                numbers[run.graph] = None
    return [
        [(place, run) for run in call.runs if (place := numbers[run.graph]) is not None]
        for call in calls
    ]


def _without_number(source: tuple[str | None, str | None]) -> tuple[str, str]:
    """Code without the number of its compilation."""
    wrapper, around = (without_number(text or "") for text in source)
    return wrapper, around


def _started(run: GraphRun) -> int:
    return run.start_ns
