"""Launch times as percentages of the device's peaks, their sums for a kernel, and the words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...report import Compilation, KernelEstimate, KernelTime, Launch, LaunchTime, VariantReport
from ...report.compilation.code import LaunchBound
from ...report.measurements.timings import Peak
from ...report.units import duration, duration_range, percent, quantity, whole_number
from ..figures.wording import count
from ..wrapper.launches import launches_of

_LIMITS = {"launch": "the launch", "memory": "memory bandwidth", "compute": "arithmetic"}


def add_to_variant(variant: VariantReport) -> None:
    """Fill in what follows from the times and the estimates of a variant's launches."""
    device = variant.target.device.name if variant.target is not None else ""
    add_launch_times(variant.compilations, device)


def add_launch_times(compilations: Sequence[Compilation], device: str = "") -> None:
    """Fill in what follows from the times and the estimates of launches.

    Parameters
    ----------
    device
        The name of the device that the estimates are for.
    """
    for compilation in compilations:
        own: dict[int, list[Launch]] = {}
        for kernel, launch in launches_of(compilation):
            own.setdefault(id(kernel), []).append(launch)
        for kernel in compilation.kernels:
            for launch in kernel.launches:
                _complete(launch, device)
            launches = own.get(id(kernel), [])
            kernel.time = _sum(launches)
            kernel.least = _sum_estimates(launches, device)


class _Nearest(NamedTuple):
    peak: Peak
    share: float | None


def _nearest(bandwidth: float | None, compute: float | None, *, cached: bool) -> _Nearest:
    """The peak that a launch comes nearest to.

    Faster than the memory, it read from a cache. If its data fit there, slower than the memory it
    read from the cache as well.
    """
    if bandwidth is None and compute is None:
        return _Nearest("", None)
    if (compute or 0.0) > (bandwidth or 0.0):
        return _Nearest("compute", compute)
    share = bandwidth or 0.0
    return _Nearest("cache" if cached or share > 1 else "memory", share)


def _complete(launch: Launch, device: str) -> None:
    least = _least(launch)
    launch.least_us, launch.least_bound = least or (None, "")
    launch.estimate = ""
    if least is not None:
        launch.estimate = f"{_at_least(least[0], [least[1]], device)}."
    time = launch.time
    if time is not None:
        time.peak, time.peak_share = _nearest(
            time.bandwidth_share, time.compute_share, cached=time.cached
        )
        time.text = _text(time)


def _at_least(us: float, bounds: Sequence[LaunchBound], device: str) -> str:
    limits = " or ".join(_LIMITS[bound] for bound in bounds if bound)
    limited = f", limited by {limits}" if limits else ""
    return f"Estimated, not measured: at least {duration(us)} on {device}{limited}"


def _least(launch: Launch) -> tuple[float, LaunchBound] | None:
    """What a launch takes of a call at least, and what limits it."""
    if launch.estimated_us is None:
        return None
    launching_us = launch.estimated_launch_us or 0.0
    if launching_us > launch.estimated_us:
        return launching_us, "launch"
    return launch.estimated_us, launch.estimated_bound


def _sum(launches: Sequence[Launch]) -> KernelTime | None:
    times = [launch.time for launch in launches if launch.time is not None]
    if not times:
        return None
    all_us = [time.us for time in times]
    bandwidth = _mean([(time.us, time.bandwidth_share) for time in times])
    compute = _mean([(time.us, time.compute_share) for time in times])
    peak = _nearest(bandwidth, compute, cached=all(time.cached for time in times))
    text = f"{duration(sum(all_us))} measured: {_total(all_us, launches)}"
    return KernelTime(
        us=sum(all_us),
        launches=len(times),
        bytes_per_s=_mean([(time.us, time.bytes_per_s) for time in times]),
        operations_per_s=_mean([(time.us, time.operations_per_s) for time in times]),
        peak=peak.peak,
        peak_share=peak.share,
        text=times[0].text if len(launches) == 1 else text,
    )


def _sum_estimates(launches: Sequence[Launch], device: str) -> KernelEstimate | None:
    known = [launch for launch in launches if launch.least_us is not None]
    if not known:
        return None
    all_us = [launch.least_us or 0.0 for launch in known]
    bounds = sorted({launch.least_bound for launch in known if launch.least_bound})
    text = f"{_at_least(sum(all_us), bounds, device)}: {_total(all_us, launches)}."
    return KernelEstimate(
        us=sum(all_us),
        launches=len(known),
        bounds=bounds,
        text=known[0].estimate if len(launches) == 1 else text,
    )


def _total(all_us: Sequence[float], launches: Sequence[Launch]) -> str:
    """Of which launches a time is the sum, and the range of their times."""
    known = count(len(launches), "launch", "launches")
    if len(all_us) < len(launches):
        known = f"{whole_number(len(all_us))} of {known}"
    low, high = duration(min(all_us)), duration(max(all_us))
    return f"total of {known}, {low if low == high else f'{low} to {high}'} each"


def _mean(rates: Sequence[tuple[float, float | None]]) -> float | None:
    """The mean by time of the launches whose rate is known."""
    known = [(us, rate) for us, rate in rates if rate is not None]
    total = sum(us for us, _ in known)
    return sum(us * rate for us, rate in known) / total if total > 0 else None


def _text(time: LaunchTime) -> str:
    """Everything that was measured of a launch, in lines."""
    interval = f" ({duration_range(*time.interval_us)})" if time.interval_us else ""
    lines = [f"{duration(time.us)}{interval}, measured over {count(time.calls, 'call')}"]
    if time.bytes_per_s is not None:
        share = time.bandwidth_share
        if time.cached and share is not None and share <= 1:
            of_peak = ", served from a cache, where its data fit"
        else:
            cached = " (served from a cache)" if (share or 0.0) > 1 else ""
            of_peak = _of_peak(share, f"of peak bandwidth{cached}")
        lines.append(f"{quantity(time.bytes_per_s, 'B')}/s{of_peak}")
    # A kernel that only copies has none.
    if time.operations_per_s:
        of_peak = _of_peak(time.compute_share, "of peak arithmetic")
        lines.append(f"{quantity(time.operations_per_s, 'FLOP')}/s{of_peak}")
    return "\n".join([*lines, *filter(None, [time.how])])


def _of_peak(share: float | None, words: str) -> str:
    return "" if share is None else f", {percent(share)} {words}"
