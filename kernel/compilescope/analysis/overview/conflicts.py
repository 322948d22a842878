"""Conflicts between kernels' measured times and a call's latency."""

from __future__ import annotations

from ...report import KernelTimeConflict, Launch, Report, VariantReport
from ...report.units import duration
from ..figures.wording import count

_TOLERANCE = 1.5
"""Kernels and calls are timed in separate builds; below this ratio, noise explains a difference."""


def conflicts(report: Report) -> list[KernelTimeConflict]:
    """Return the variants whose kernels take longer than the call that launches them.

    Kernels are timed under the profiler, in a build with timers. Other work on the machine can make
    each launch appear a thousand times as long as it is.
    """
    return [
        kernel_conflict
        for variant in report.variants
        if (kernel_conflict := conflict(variant)) is not None
    ]


def conflict(variant: VariantReport) -> KernelTimeConflict | None:
    """Compare a variant's kernel times with its latency; None if they agree.

    Launches of a backward do not count, since a timed call need not run it, nor do those of a graph
    that ran in few of the profiled calls, as an optimizer's first step does.
    """
    timing = variant.timing
    if timing is None:
        return None
    timed_launches = [(kernel, launch.time) for kernel, launch in _launches(variant) if launch.time]
    usual = max((time.calls for _, time in timed_launches), default=0)
    times = [(kernel, time.us) for kernel, time in timed_launches if 2 * time.calls >= usual]
    latency = max(timing.interval_us[1], timing.median_us)
    total = sum(us for _, us in times)
    if not times or total <= latency * _TOLERANCE:
        return None
    name, longest = max(times, key=lambda timed: timed[1])
    kernels = count(len(times), "measured launch", "measured launches")
    text = (
        f"Kernel times and latency do not agree: {kernels} add up to {duration(total)}, but a call "
        f"takes {duration(timing.median_us)}."
    )
    if longest > latency and len(times) > 1:
        text += f" {name} alone takes {duration(longest)}."
    text += (
        " Kernels are timed under the profiler, in a separate build; other load on the machine "
        "then makes them appear slower. Trust the latency."
    )
    return KernelTimeConflict(variant=variant.name, text=text, latency_us=latency)


def _launches(variant: VariantReport) -> list[tuple[str, Launch]]:
    artifact = "cpp" if variant.requested.cpp_wrapper else "python"
    return [
        (kernel.name, launch)
        for compilation in variant.compilations
        for kernel in compilation.kernels
        if kernel.direction != "backward"
        for launch in kernel.launches
        if launch.artifact == artifact and launch.variant in ("", variant.name)
    ]
