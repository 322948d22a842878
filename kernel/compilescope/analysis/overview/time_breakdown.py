"""The time breakdown of a call, as one set of figures for the bar, headline and evidence."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from ...report import Kernel, Launch, LaunchTime, Layer, VariantReport
from ...report.measurements.timings import LayerKind, shares_of_call
from .variants import trains

GROUPS: dict[LayerKind, tuple[str, tuple[LayerKind, ...]]] = {
    "guards": ("Dynamo and guards", ("guards", "bytecode")),
    "aot": ("runtime", ("aot", "inductor")),
    "wrapper": ("wrapper", ("wrapper",)),
    "launches": ("launches", ("launches",)),
    "kernels": ("kernels", ("kernels",)),
    "compiled": ("wrapper with its kernels", ("compiled",)),
    "eager": ("eager", ("eager",)),
    "other": ("not attributed", ("idle", "other")),
}
"""Part of a call → its title and its layers."""


class TimeBreakdown(NamedTuple):
    """The time of a call and of its kernels, in µs."""

    whole: float
    kernels: float
    device: str
    launches: int
    with_wrapper: bool = False
    """Whether the kernels' time includes the wrapper around them."""

    @property
    def inside(self) -> float:
        """The part of the time in which kernels run."""
        return min(self.kernels / self.whole, 1.0) if self.whole > 0 else 1.0

    @property
    def outside(self) -> float:
        """The part of the time in which no kernel runs."""
        return 1 - self.inside


def parts_of_call(variant: VariantReport, *, of_backward: bool = True) -> list[Layer]:
    """The layers of a variant's call, scaled so that they take no longer than the call.

    None is negative either, as in `shares_of_call`.

    Parameters
    ----------
    of_backward
        Whether those of the backward are included.
    """
    return [
        msgspec.structs.replace(layer, us=(share or 0.0) * layers.whole_us)
        for layers in variant.layers
        if of_backward or layers.direction != "backward"
        for layer, share in zip(layers.layers, shares_of_call(layers), strict=True)
    ]


def sums(variant: VariantReport) -> dict[LayerKind, float]:
    """The time of each group of layers, in µs, of a variant that was broken down."""
    layers = parts_of_call(variant)
    return {
        group: sum(layer.us for layer in layers if layer.kind in kinds)
        for group, (_, kinds) in GROUPS.items()
    }


def time_breakdown(variant: VariantReport) -> TimeBreakdown | None:
    """From the layers, if they were measured; otherwise from the kernels' times alone."""
    launches = len(own_launches(variant))
    if variant.layers:
        whole = sum(layer.whole_us for layer in variant.layers)
        parts = parts_of_call(variant)
        with_wrapper = any(layer.kind == "compiled" for layer in parts)
        # A C++ wrapper's forward may be measured with its kernels, its backward apart from them.
        kinds = inside_call(with_wrapper=with_wrapper)
        # On a GPU the whole time of the kernels counts: they may run in parallel with the host.
        kernels = [
            layer.us if layer.device_us is None else layer.device_us
            for layer in parts
            if layer.kind in kinds
        ]
        if not kernels or whole <= 0:
            return None
        device = variant.layers[0].device
        return TimeBreakdown(whole, sum(kernels), device, launches, with_wrapper=with_wrapper)
    timing, times = variant.timing, launch_times(variant)
    if timing is None or not times or len(times) < launches or trains(variant):
        return None
    return TimeBreakdown(timing.median_us, sum(time.us for time in times), timing.device, launches)


def inside_call(*, with_wrapper: bool) -> tuple[LayerKind, ...]:
    """The layers that count as the kernels' time, or as that of the wrapper with its kernels."""
    kernels: tuple[LayerKind, ...] = ("kernels", "compiled")
    return (*kernels, "wrapper", "launches") if with_wrapper else kernels


def own_launches(variant: VariantReport) -> list[Launch]:
    """The launches of the variant's own wrapper."""
    return [launch for _, launch in launched_kernels(variant)]


def launched_kernels(variant: VariantReport) -> list[tuple[Kernel, Launch]]:
    """The launches of the variant's own wrapper, each with its kernel."""
    artifact = "cpp" if variant.requested.cpp_wrapper else "python"
    return [
        (kernel, launch)
        for compilation in variant.compilations
        for kernel in compilation.kernels
        for launch in kernel.launches
        if launch.artifact == artifact and launch.variant in ("", variant.name)
    ]


def launch_times(variant: VariantReport) -> list[LaunchTime]:
    """The times of the launches that were timed."""
    return [launch.time for launch in own_launches(variant) if launch.time is not None]
