"""A variant's launches: which of them are timed, and their times in the report."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis.kernels.rates import rate_of
from ..analysis.wrapper.launches import Meaning, codes_of, nodes_of
from ..report import Code, Compilation, Language, Launch, LaunchTime, Peaks, WrapperLanguage
from .kernel_times import Site, Times

_IN_KERNEL = "The profiler's range within the kernel"
_AROUND_CALL = "The profiler's range that the C++ wrapper opens around the call"
_OPERATOR = "The profiler's range of the operator"
_ON_DEVICE = "On the device, by the GPU's own profiling interface"
_REPLAYED = ", in the replay of a CUDA graph"


@dataclass
class Graph:
    """A graph of the variant, as built for timing and as in the report."""

    sites: list[Site]
    """In the order of their lines, which is the execution order except for branches and loops."""
    keys: list[str | None]
    """Their keys in the report; None for a launch that the report lacks."""
    compilation: str
    source: tuple[str | None, str | None]
    """The generated code: the wrapper, and the Python around a C++ wrapper."""
    on_gpu: bool
    """Whether any of its nodes is on a GPU."""


def source_of(code: Code) -> tuple[str | None, str | None]:
    """The code that identifies a graph."""
    return (code.python, None) if code.python is not None else (code.cpp, code.shell)


def graphs_of(
    built: Sequence[Compilation], reported: Sequence[Compilation], artifact: WrapperLanguage
) -> list[Graph]:
    """The graphs that were built for timing, with the report's launches in them."""
    by_id = {compilation.id: compilation for compilation in reported}
    graphs = []
    for compilation in built:
        same = by_id.get(compilation.id)
        if same is None:
            continue
        languages: dict[str, Language] = {
            launch.key: kernel.language
            for kernel in compilation.kernels
            for launch in kernel.launches
            if launch.artifact == artifact
        }
        nodes = nodes_of(same)
        reported_codes = {(code.direction, _name(code, artifact)): code for code in codes_of(same)}
        for code in codes_of(compilation):
            other = reported_codes.get((code.direction, _name(code, artifact)))
            if source_of(code)[0] is None or other is None:
                continue
            partners = _partners(code, other, artifact)
            built_launches = _launches(code, artifact)
            graphs.append(
                Graph(
                    [Site(kernel, languages.get(key, "extern")) for key, kernel in built_launches],
                    [partners.get(key) for key, _ in built_launches],
                    compilation.id,
                    source_of(code),
                    any(
                        (node.device or "").startswith("cuda")
                        for node in nodes.get(_name(code, artifact), {}).values()
                    ),
                )
            )
    return graphs


def _launches(code: Code, artifact: WrapperLanguage) -> list[tuple[str, str]]:
    """Keys and kernels, in the order of the lines."""
    return [
        (region.key, region.kernel or "")
        for region in code.regions.get(artifact, ())
        if region.kind == "launch"
    ]


def _name(code: Code, artifact: WrapperLanguage) -> str:
    """The direction with the number of the graph, as in keys."""
    return next((key.split(":")[1] for key, _ in _launches(code, artifact)), "")


def _partners(built: Code, reported: Code, artifact: WrapperLanguage) -> dict[str, str]:
    built_launches, reported_launches = _launches(built, artifact), _launches(reported, artifact)
    names, other_names = (
        [name for _, name in built_launches],
        [name for _, name in reported_launches],
    )
    matcher = difflib.SequenceMatcher(None, names, other_names, autojunk=False)
    return {
        built_launches[block.a + step][0]: reported_launches[block.b + step][0]
        for block in matcher.get_matching_blocks()
        for step in range(block.size)
    }


def launch_time(
    launch: Launch,
    times: Times,
    peaks: Peaks,
    meaning: Meaning,
    *,
    extern: bool,
    empty_ns: float,
    inner_ns: float,
    tf32: bool,
    built_with: str,
) -> LaunchTime:
    """The measurements of a launch, compared with its device's peak rates.

    Parameters
    ----------
    times
        At least one sample.
    empty_ns, inner_ns
        The profiler's overhead: in each range, and for each nested range.
    tf32
        Whether float32 products may be rounded to TF32.
    built_with
        Settings of the timed build besides the variant's; may be empty.
    """
    us = times.median_us
    measured = LaunchTime(
        us=us,
        interval_us=times.interval_us,
        calls=len(times.samples_us),
        device=meaning.device,
        how=_how(launch, times, extern, empty_ns, inner_ns, built_with),
    )
    if us <= 0:
        return measured
    if launch.estimated_bytes is not None:
        measured.bytes_per_s = launch.estimated_bytes / us * 1e6
        if peaks.bandwidth_bytes_per_s:
            measured.bandwidth_share = measured.bytes_per_s / peaks.bandwidth_bytes_per_s
    if launch.estimated_operations is not None:
        measured.operations_per_s = launch.estimated_operations / us * 1e6
        rate = rate_of(peaks, meaning.dtype, product=meaning.product, tf32=tf32)
        if rate:
            measured.compute_share = measured.operations_per_s / rate
    return measured


def _how(
    launch: Launch,
    times: Times,
    extern: bool,
    empty_ns: float,
    inner_ns: float,
    built_with: str,
) -> str:
    if times.on_device:
        text = _ON_DEVICE + (_REPLAYED if times.replayed else "")
        if times.kernels > 1:
            text += f": the sum of {times.kernels} kernels"
    else:
        if not extern:
            text = _IN_KERNEL
        else:
            text = _AROUND_CALL if launch.artifact == "cpp" and built_with else _OPERATOR
        text += f", less {empty_ns / 1000:.2f} µs: an empty one"
        if times.inner:
            text += f". {times.inner} within it cost up to {times.inner * inner_ns / 1000:.1f} µs"
    runs = max(times.runs, default=1)
    if runs > 1:
        text += f". It runs {runs} times a call; this is their mean"
    return f"{text}. {built_with}".strip()
