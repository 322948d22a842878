"""Adds kernels' measured times to a variant's report."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from ..analysis.figures.counts import control_flow
from ..analysis.kernels.estimates.cache_reuse import cached_launches
from ..analysis.kernels.kernels import NOT_LAUNCHED
from ..analysis.kernels.launch_times import add_launch_times
from ..analysis.wrapper.launches import groups_of, meaning_of, nodes_of
from ..report import Kernel, Launch, Peaks, VariantReport, WrapperLanguage
from ..torch_api.kernels.profiler_events import GraphRun
from ..torch_api.process.float32_precision import rounds_float32
from . import kernel_times
from .kernel_launches import Graph, launch_time
from .kernel_times import Times
from .peaks import measured_again, peaks_of

NOT_RUN = "Its graph did not run in the calls that were profiled."
OTHER_CODE = "With timers in its kernels torch generated other code, without this launch."
NO_TIMERS = "torch puts timers into C++ kernels on Linux and on Windows only."

NO_WORK = (
    "The GPU's profiling interface reported no work. Another process may be using it, or it is not "
    "permitted here."
)

_CLEARLY = 1.05

Runs = list[list[tuple[int, GraphRun]]]
"""The runs of each call, each with the index of its graph."""
Patterns = dict[frozenset[str], list[tuple[str, str]]]
"""The keys of a graph's launches → the kernels that it starts on the device, in order, each with
its launch's key."""


@dataclass
class BuildMeasurements:
    """The measurements of one build of a variant."""

    graphs: list[Graph]
    calls: Runs
    empty_ns: float
    inner_ns: float
    """The profiler's overhead: in each range, and for each nested range."""
    on_device: bool
    built_with: str
    """Settings of the build besides the variant's; may be empty."""


def artifact_of(report: VariantReport) -> WrapperLanguage:
    """The wrapper that contains a variant's launches."""
    return "cpp" if report.requested.cpp_wrapper else "python"


def learn_patterns(measured: BuildMeasurements) -> Patterns:
    """The kernels that each graph starts on the device, from runs with distinguishable launches."""
    patterns: Patterns = {}
    for call in measured.calls:
        for place, run in call:
            graph = measured.graphs[place]
            keys = [key or "" for key in graph.keys]
            patterns[frozenset(keys)] = [
                (name, keys[site] if site >= 0 else "")
                for name, site in kernel_times.kernels_of_run(graph.sites, run)
            ]
    return patterns


def fill(
    report: VariantReport, peaks: list[Peaks], measurement: BuildMeasurements, patterns: Patterns
) -> None:
    """Adds the times to the report's launches, or the reason if there is none.

    Parameters
    ----------
    peaks
        The known peaks of devices; further ones are added.
    patterns
        The patterns for graphs replayed by CUDA graphs; see `learn_patterns`.
    """
    measured: dict[tuple[str, str], Times] = {}
    reasons: dict[tuple[str, str], str] = {}
    branching = {
        compilation.id for compilation in report.compilations if control_flow([compilation])
    }
    for place, graph in enumerate(measurement.graphs):
        order = {key: site for site, key in enumerate(graph.keys) if key is not None}
        pattern = patterns.get(frozenset(key or "" for key in graph.keys), ())
        runs = [[run for number, run in call if number == place] for call in measurement.calls]
        times, missing = kernel_times.measure(
            graph.sites,
            runs,
            empty_ns=measurement.empty_ns,
            pattern=[(name, order.get(key, -1)) for name, key in pattern],
            on_device=graph.on_gpu,
            branches=graph.compilation in branching,
        )
        why = _not_at_all(graph, runs)
        for key, site in order.items():
            if site in times:
                measured[graph.compilation, key] = times[site]
            else:
                reasons[graph.compilation, key] = why or missing[site]
    for last in (False, True):
        _add_times(report, peaks, measurement, measured, reasons)
        beaten = [] if last else _beaten(report, peaks)
        if not beaten:
            _mark_cached(report, peaks)
            add_launch_times(report.compilations)
            return
        for device_peaks in beaten:
            measured_again(device_peaks)


def _mark_cached(report: VariantReport, peaks: Sequence[Peaks]) -> None:
    """Marks the launches whose data are in the last-level cache of their device."""
    artifact = artifact_of(report)
    cached = {
        device_peaks.device: cached_launches(report.compilations, device_peaks.cache_bytes)
        for device_peaks in peaks
        if device_peaks.cache_bytes is not None
    }
    for compilation in report.compilations:
        for kernel in compilation.kernels:
            for launch in _launches_of(kernel, artifact):
                if launch.time is not None:
                    key = (compilation.id, launch.key)
                    launch.time.cached = key in cached.get(launch.time.device, ())


def _not_at_all(graph: Graph, calls: Sequence[Sequence[GraphRun]]) -> str:
    """Why no launch of a graph has a time; empty if some may have one."""
    spans = [span for runs in calls for run in runs for span in run.spans]
    if not any(calls):
        return NOT_RUN
    return NO_WORK if graph.on_gpu and not any(span.work for span in spans) else ""


def _add_times(
    report: VariantReport,
    peaks: list[Peaks],
    measurement: BuildMeasurements,
    measured: Mapping[tuple[str, str], Times],
    reasons: Mapping[tuple[str, str], str],
) -> None:
    """Adds the time of each launch, and the reason for each kernel without one."""
    default = f"cuda:{torch.cuda.current_device()}" if measurement.on_device else "cpu"
    tf32 = rounds_float32()
    artifact = artifact_of(report)
    for compilation in report.compilations:
        nodes, groups = nodes_of(compilation), groups_of(compilation, artifact)
        for kernel in compilation.kernels:
            why: list[str] = []
            for launch in _launches_of(kernel, artifact):
                launch.time = None
                measured_launch = measured.get((compilation.id, launch.key))
                if measured_launch is None:
                    why.append(_reason(reasons, compilation.id, launch.key))
                    continue
                graph_nodes = nodes.get(launch.key.split(":")[1], {})
                meaning = meaning_of(groups.get(launch.key, ()), graph_nodes, default)
                if not measured_launch.on_device:
                    meaning.device = "cpu"
                launch.time = launch_time(
                    launch,
                    measured_launch,
                    _peaks(peaks, meaning.device),
                    meaning,
                    extern=kernel.language == "extern",
                    empty_ns=measurement.empty_ns,
                    inner_ns=measurement.inner_ns,
                    tf32=tf32,
                    built_with=measurement.built_with,
                )
            kernel.absent.pop("time", None)
            if why or not _launches_of(kernel, artifact):
                kernel.absent["time"] = why[0] if why else NOT_LAUNCHED


def _launches_of(kernel: Kernel, artifact: WrapperLanguage) -> list[Launch]:
    """The variant's launches: a kernel lists those of the other wrapper too."""
    return [launch for launch in kernel.launches if launch.artifact == artifact]


def _beaten(report: VariantReport, peaks: Sequence[Peaks]) -> list[Peaks]:
    """Measured peaks that a kernel clearly exceeds, which is impossible for arithmetic."""
    artifact = artifact_of(report)
    devices = {
        launch.time.device
        for compilation in report.compilations
        for kernel in compilation.kernels
        for launch in _launches_of(kernel, artifact)
        if launch.time is not None and (launch.time.compute_share or 0.0) > _CLEARLY
    }
    return [peak for peak in peaks if peak.device in devices and peak.how == "measured"]


def _reason(reasons: Mapping[tuple[str, str], str], compilation: str, key: str) -> str:
    if sys.platform not in ("linux", "win32"):
        return NO_TIMERS
    return reasons.get((compilation, key), OTHER_CODE)


def _peaks(device_peaks: list[Peaks], device: str) -> Peaks:
    """The peaks of a device, which are added to the report on first use."""
    for peaks in device_peaks:
        if peaks.device == device:
            return peaks
    device_peaks.append(peaks_of(device))
    return device_peaks[-1]
