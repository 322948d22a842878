"""The kernel that takes most of the kernels' time, far from the device's peak rates."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import NamedTuple

from ...report import Kernel, VariantReport
from ...report.measurements.timings import LaunchTime
from ...report.units import percent
from ..figures.counts import control_flow
from ..figures.wording import place
from ..graphs.operation_counts import operator_name
from .time_breakdown import launched_kernels

REACHED = 0.3
"""The share of a peak from which on that peak is the limit."""
_MOST = 0.5
"""A kernel counts if it takes this share of the kernels' time of its direction."""
_LEAST = 0.3
"""And this share of the time of all kernels, forward and backward."""
_LEAST_LAUNCH_US = 25.0
"""And this time in each of its launches: shorter ones, such as products of small matrices, are far
from the peaks because of the fixed cost of a launch or a library call."""
_OWN_OPERATOR = re.compile(r"prims\.inductor_")
"""An operator that Inductor adds, not the user."""
_RANDOM = "inductor_random"
"""Part of the operators that draw random numbers in generated code."""
_NAMED = 3


class SlowKernel(NamedTuple):
    """A kernel that takes most of the kernels' time, far from both peaks."""

    kernel: Kernel
    us: float
    """The time of its launches in a call."""
    share: float
    """Its share of the kernels' time of its direction."""
    bandwidth: float | None
    """The share of the peak bandwidth that it reaches; None if its data are in a cache."""
    compute: float
    device: str

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        return any(_RANDOM in operator for operator in self.kernel.ops)

    @property
    def takes(self) -> str:
        """Its name and its share: ``cpp_fused_relu_0 takes 61 % of the kernels' time``."""
        of = {"forward": "the forward's kernel time", "backward": "the backward's kernel time"}
        among = of.get(self.kernel.direction, "the kernels' time")
        return f"{self.kernel.name} takes {percent(self.share)} of {among}"

    @property
    def computes(self) -> str:
        """What it computes, and where: ``draws random numbers (train.py:9)``."""
        operators = [each for each in self.kernel.ops if not _OWN_OPERATOR.match(each)]
        names = list(dict.fromkeys(map(operator_name, operators)))
        what = f"computes {', '.join(names[:_NAMED])}{' and more' if len(names) > _NAMED else ''}"
        if self.is_random:
            what = f"draws random numbers and {what}" if names else "draws random numbers"
        elif not names:
            what = "computes what its source shows"
        # The calls of a library function are from several lines.
        is_elsewhere = self.kernel.language == "extern" and len(self.kernel.launches) > 1
        if is_elsewhere or not self.kernel.sources:
            return what
        return f"{what} ({place(self.kernel.sources[0])})"

    @property
    def reached(self) -> str:
        """How close it comes to the peaks: ``4 % of the arithmetic peak``."""
        arithmetic = f"{percent(self.compute)} of the arithmetic peak"
        if self.bandwidth is None:
            return arithmetic
        return f"{percent(self.bandwidth)} of the bandwidth and {arithmetic}"


def slow_kernel(variant: VariantReport) -> SlowKernel | None:
    """The kernel of a variant that takes most of the kernels' time, if it is far from both peaks.

    None too if it is the only kernel, if its launches are short, if some launches were not timed,
    or if the peaks are unknown.
    """
    launched = launched_kernels(variant)
    timed = [(kernel, launch.time) for kernel, launch in launched if launch.time is not None]
    # A branch is not run, a loop is run often: the launches in the code are not those of a call.
    if len(timed) < len(launched) or control_flow(variant.compilations):
        return None
    by_kernel: dict[Hashable, tuple[Kernel, list[LaunchTime]]] = {}
    of_direction: dict[str, float] = {}
    for place_of_call, (kernel, time) in enumerate(timed):
        # Calls of one library function differ in their sizes: each is a kernel of its own.
        key = place_of_call if kernel.language == "extern" else kernel.name
        by_kernel.setdefault((key, kernel.direction), (kernel, []))[1].append(time)
        of_direction[kernel.direction] = of_direction.get(kernel.direction, 0.0) + time.us
    if len(by_kernel) < 2:
        return None
    kernel, times = max(by_kernel.values(), key=lambda each: sum(time.us for time in each[1]))
    us = sum(time.us for time in times)
    if us < _LEAST * sum(of_direction.values()) or min(times, key=_us).us < _LEAST_LAUNCH_US:
        return None
    share = us / of_direction[kernel.direction]
    if share < _MOST or any(time.compute_share is None for time in times):
        return None
    compute = sum(time.us * (time.compute_share or 0.0) for time in times) / us
    in_cache = all(time.cached for time in times)
    if not in_cache and any(time.bandwidth_share is None for time in times):
        return None
    moved = sum(time.us * (time.bandwidth_share or 0.0) for time in times) / us
    if max(compute, moved) >= REACHED:
        return None
    bandwidth = None if in_cache else moved
    return SlowKernel(kernel, us, share, bandwidth, compute, times[0].device)


def _us(time: LaunchTime) -> float:
    return time.us
