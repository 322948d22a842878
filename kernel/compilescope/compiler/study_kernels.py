"""The study of kernels: how long each launch of a variant takes on its device."""

from __future__ import annotations

import re
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import torch

from ..analysis.kernels import NOT_LAUNCHED
from ..analysis.wrappers import split
from ..measure import kernel_times
from ..measure.kernel_launches import (
    Artifact,
    Graph,
    codes_of,
    graphs_of,
    launch_time,
    meaning_of,
)
from ..measure.kernel_times import Times
from ..measure.peaks import measured_again, peaks_of
from ..report import Compilation, Kernel, Launch, Node, Peaks, VariantReport
from ..torch_api import caches, kernel_timers
from ..torch_api.compiling import settings_of
from ..torch_api.kernel_events import GraphRun
from .building import Built, build
from .outcome import outcome_of
from .quiet import quiet
from .studies import Study

SECONDS = 2.0
"""About how long calls are profiled."""
_FEWEST, _MOST = 10, 50
"""Calls that are profiled."""
_WARM_UP = 3
"""Calls before: the second of a CUDA graph records it."""
_IN_A_ROW = 5
"""Calls in one profile, between two looks at the clock."""
_EVENTS = 100_000
"""Launches that are kept: after so many, no further call is profiled."""

_CLEARLY = 1.05
_NUMBERED = re.compile(r"^# AOT ID: .*$", re.MULTILINE)

NO_INDUCTOR = "The backend {!r} generates no kernels."
NOT_BUILT = "The variant could not be built again with timers in its kernels. {}"
PROFILED = "torch's profiler is on already; it is one of a kind. Ask again when it is off."
NOT_RUN = "Its graph did not run in the calls that were profiled."
OTHER_CODE = "With timers in its kernels torch generated other code, without this launch."
NO_TIMERS = "torch puts timers into C++ kernels on Linux and on Windows only."
HOW_BUILT = "Built once more for this, with cpp.enable_kernel_profile."


@dataclass
class _Measured:
    """What one build of the variant did."""

    graphs: list[Graph]
    calls: list[list[tuple[int, GraphRun]]]
    """Call by call, the runs, each with its graph's place in ``graphs``."""
    empty_ns: float
    inner_ns: float


Patterns = dict[frozenset[str], list[tuple[str, str]]]
"""A graph's launches, by their keys → the kernels that it starts on the device, in order, each with
its launch's key."""


def study_kernels(study: Study) -> None:
    """Fills the times of the launches of a built variant."""
    report, variant = study.report, study.report.requested
    if variant.backend != "inductor":
        report.absent["kernel_times"] = NO_INDUCTOR.format(variant.backend)
        return
    if kernel_timers.is_profiling():
        report.absent["kernel_times"] = PROFILED
        return
    languages = {kernel.language for one in report.compilations for kernel in one.kernels}
    own = kernel_timers.SETTINGS if "cpp" in languages else {}
    on_device = _uses_gpu(report)
    patterns: Patterns = {}
    if on_device and settings_of(variant).get("triton.cudagraphs"):
        # Which library call starts which kernels is seen only where no graph replays them.
        plain = _measured(study, {**own, "triton.cudagraphs": False}, on_device, 0.0)
        if plain is not None:
            patterns = _learnt(plain)
    study.monitor.check()
    found = _measured(study, own, on_device, SECONDS)
    if found is None:
        return
    report.absent.pop("kernel_times", None)
    _fill(study, found, patterns, HOW_BUILT if own else "", on_device)


def _measured(
    study: Study, options: Mapping[str, Any], on_device: bool, seconds: float
) -> _Measured | None:
    """Builds the variant with options of the study's own, and profiles its calls."""
    report = study.report
    variant = msgspec.structs.replace(
        report.requested, options={**report.requested.options, **options}
    )
    study.monitor.step("building with timers", variant=report.name, fraction=0.1)
    folder = caches.new_folder()
    try:
        study.snapshot.restore()
        built = build(
            study.fn,
            study.args,
            study.kwargs,
            name=report.name,
            variant=variant,
            wardrobe=study.wardrobe,
            outfit=study.wardrobe.outfit(),
            folder=folder,
            gradients=dict,
        )
        if built.problem is not None:
            report.absent["kernel_times"] = NOT_BUILT.format(built.problem.what)
            return None
        study.monitor.step("timing kernels", variant=report.name, fraction=0.6)
        with quiet(), caches.only(folder):  # a call may compile once more
            profile = _profiled(study, built, on_device, seconds)
    finally:
        study.snapshot.restore()
        shutil.rmtree(folder, ignore_errors=True)
    graphs = graphs_of(built.compilations, report.compilations, _artifact(report))
    return _Measured(graphs, _sorted_runs(profile, graphs), profile.empty_ns, profile.inner_ns)


def _profiled(
    study: Study, built: Built, on_device: bool, seconds: float
) -> kernel_timers.Profiler:
    """Warms up, then profiles calls until the time is up: one at least.

    State goes on from call to call: put back in between, an optimiser's would have to be compiled
    for again, and what was put back would drive everything else out of the caches.
    """

    def call() -> object:
        return outcome_of(built.call(*study.args, **study.kwargs), dict)

    for _ in range(_WARM_UP):
        study.monitor.check()
        call()
    profiler = kernel_timers.Profiler(device=on_device)
    end = time.perf_counter() + seconds
    profiler.profile(call, calls=1, before=study.monitor.check)
    entries = 0
    while seconds and len(profiler.calls) < _MOST and entries < _EVENTS:
        if time.perf_counter() > end and len(profiler.calls) > _FEWEST:
            break
        profiler.profile(call, calls=_IN_A_ROW, before=study.monitor.check)
        entries = sum(len(run.spans) for one in profiler.calls for run in one.runs)
    if seconds:
        del profiler.calls[0]  # the profiler's own first call is slow
    return profiler


def _uses_gpu(report: VariantReport) -> bool:
    return torch.cuda.is_available() and any(
        (node.device or "").startswith("cuda")
        for compilation in report.compilations
        for graph in compilation.graphs.values()
        for node in graph.nodes
    )


def _artifact(report: VariantReport) -> Artifact:
    return "cpp" if report.requested.cpp_wrapper else "python"


def _sorted_runs(
    profile: kernel_timers.Profiler, graphs: Sequence[Graph]
) -> list[list[tuple[int, GraphRun]]]:
    """The runs of known graphs, call by call.

    Frames that are alike have the same code. Their graphs are told apart by when they first ran.
    What is compiled once more, and is the same, counts as what was there.
    """
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for position, graph in enumerate(graphs):
        places[_plain(graph.source)].append(position)
    numbers: dict[int, int | None] = {}
    for run in sorted((run for one in profile.calls for run in one.runs), key=_started):
        if run.graph not in numbers:
            parts = split(run.source)
            left = places[
                _plain(
                    (parts.python, None) if parts.python is not None else (parts.cpp, parts.shell)
                )
            ]
            if left:
                numbers[run.graph] = left[0] if len(left) == 1 else left.pop(0)
            else:
                numbers[run.graph] = None
    return [
        [(place, run) for run in call.runs if (place := numbers[run.graph]) is not None]
        for call in profile.calls
    ]


def _plain(source: tuple[str | None, str | None]) -> tuple[str, str]:
    """Code without the number of its compilation."""
    wrapper, around = (_NUMBERED.sub("", text or "") for text in source)
    return wrapper, around


def _started(run: GraphRun) -> int:
    return run.start_ns


def _learnt(plain: _Measured) -> Patterns:
    patterns: Patterns = {}
    for call in plain.calls:
        for place, run in call:
            graph = plain.graphs[place]
            keys = [key or "" for key in graph.keys]
            patterns[frozenset(keys)] = [
                (name, keys[site] if site >= 0 else "")
                for name, site in kernel_times.learn(graph.sites, run)
            ]
    return patterns


def _fill(
    study: Study, found: _Measured, patterns: Patterns, built_with: str, on_device: bool
) -> None:
    """Puts the times into the report's launches, and says why where there is none."""
    measured: dict[tuple[str, str], Times] = {}
    reasons: dict[tuple[str, str], str] = {}
    for place, graph in enumerate(found.graphs):
        order = {key: site for site, key in enumerate(graph.keys) if key is not None}
        learnt = patterns.get(frozenset(key or "" for key in graph.keys), ())
        runs = [[run for number, run in call if number == place] for call in found.calls]
        times, missing = kernel_times.measure(
            graph.sites,
            runs,
            empty_ns=found.empty_ns,
            pattern=[(name, order.get(key, -1)) for name, key in learnt],
        )
        ran = any(runs)
        for key, site in order.items():
            if site in times:
                measured[graph.compilation, key] = times[site]
            else:
                reasons[graph.compilation, key] = missing[site] if ran else NOT_RUN
    for last in (False, True):
        _put(study, found, measured, reasons, built_with, on_device)
        beaten = _beaten(study)
        if last or not beaten:
            return
        for peaks in beaten:
            measured_again(peaks)


def _put(
    study: Study,
    found: _Measured,
    measured: Mapping[tuple[str, str], Times],
    reasons: Mapping[tuple[str, str], str],
    built_with: str,
    on_device: bool,
) -> None:
    """Gives each launch its time, and each kernel without one the reason."""
    default = f"cuda:{torch.cuda.current_device()}" if on_device else "cpu"
    tf32 = torch.get_float32_matmul_precision() != "highest"
    artifact = _artifact(study.report)
    for compilation in study.report.compilations:
        nodes, groups = _nodes(compilation), _groups(compilation, artifact)
        for kernel in compilation.kernels:
            why: list[str] = []
            for launch in _own(kernel, artifact):
                launch.time = None
                known = measured.get((compilation.id, launch.key))
                if known is None:
                    why.append(_reason(reasons, compilation.id, launch.key))
                    continue
                own = nodes.get(launch.key.split(":")[1], {})
                meaning = meaning_of(groups.get(launch.key, ()), own, default)
                if not known.on_device:
                    meaning.device = "cpu"
                launch.time = launch_time(
                    launch,
                    known,
                    _peaks(study.peaks, meaning.device),
                    meaning,
                    extern=kernel.language == "extern",
                    empty_ns=found.empty_ns,
                    inner_ns=found.inner_ns,
                    tf32=tf32,
                    built_with=built_with,
                )
            kernel.absent.pop("time", None)
            if why or not _own(kernel, artifact):
                kernel.absent["time"] = why[0] if why else NOT_LAUNCHED


def _own(kernel: Kernel, artifact: Artifact) -> list[Launch]:
    """The variant's launches: a kernel lists those of the other wrapper too."""
    return [launch for launch in kernel.launches if launch.artifact == artifact]


def _beaten(study: Study) -> list[Peaks]:
    """Measured peaks that a kernel is clearly above, which cannot be in arithmetic."""
    artifact = _artifact(study.report)
    devices = {
        launch.time.device
        for compilation in study.report.compilations
        for kernel in compilation.kernels
        for launch in _own(kernel, artifact)
        if launch.time is not None and (launch.time.compute_share or 0.0) > _CLEARLY
    }
    return [one for one in study.peaks if one.device in devices and one.how == "measured"]


def _reason(reasons: Mapping[tuple[str, str], str], compilation: str, key: str) -> str:
    if sys.platform not in ("linux", "win32"):
        return NO_TIMERS
    return reasons.get((compilation, key), OTHER_CODE)


def _peaks(known: list[Peaks], device: str) -> Peaks:
    """The peaks of a device, which join the report's when they are first asked for."""
    for one in known:
        if one.device == device:
            return one
    known.append(peaks_of(device))
    return known[-1]


def _nodes(compilation: Compilation) -> dict[str, dict[str, Node]]:
    """The name of a graph, as keys have it → its nodes. Further graphs of a direction have none."""
    stages = {"inference": "post_grad", "forward": "post_grad", "backward": "backward_post_grad"}
    return {
        name: {node.name: node for node in compilation.graphs[stage].nodes}
        for name, stage in stages.items()
        if stage in compilation.graphs
    }


def _groups(compilation: Compilation, artifact: Artifact) -> dict[str, list[str]]:
    """Key of a launch → the nodes that it computes."""
    return {
        region.key: region.nodes
        for code in codes_of(compilation)
        for region in code.regions.get(artifact, ())
        if region.kind == "launch"
    }
