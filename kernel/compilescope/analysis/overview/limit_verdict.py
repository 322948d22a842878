"""What limits a variant's time, from its measurements, and what usually helps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...report import Report, VariantReport, Verdict
from ...report.units import percent
from ..figures.counts import compiled_nothing, control_flow
from ..figures.wording import count
from ..graphs.operation_counts import is_product
from .bounds import BOUND, disturbance, limit_of, us_text
from .slow_kernel import REACHED, SlowKernel, slow_kernel
from .suggestions.verdict_helps import helps_for
from .target_verdict import target_verdict
from .time_breakdown import (
    TimeBreakdown,
    inside_call,
    launch_times,
    own_launches,
    parts_of_call,
    time_breakdown,
)

_MAX_NOISE_RATIO = 1.5
"""The largest ratio of two measurements of the same kernels that noise explains."""


class PeakShares(NamedTuple):
    """The shares of the device's peaks that kernels reach, weighted by their time."""

    bandwidth: float | None
    compute: float | None
    known: float
    """The part of the launches, or of their time in this measurement, for which they are known."""
    known_of: str
    """What it is a part of."""
    timed_us: float | None
    """The time of a call's launches in this measurement; None if some were not timed."""


def verdict(variant: VariantReport, report: Report) -> Verdict | None:
    """A verdict on one variant.

    It uses measured times only: those of its layers, otherwise of its calls and kernels. The peaks
    are the report's; what a kernel moves and computes is estimated from its nodes' shapes. A
    variant for a target has a verdict from estimates, which says so.

    Parameters
    ----------
    report
        Its other variants' timings show the gain of a change.

    Returns
    -------
    Verdict or None
        None for eager, if nothing was compiled, or without measurements.
    """
    if variant.target is not None:
        return target_verdict(variant, report)
    if variant.requested.backend is None or variant.stage != "built":
        return None
    if compiled_nothing(variant):
        return None
    call = time_breakdown(variant)
    if call is None:
        return None
    if noise := disturbance(variant):
        return Verdict(bound="unclear", limited_by="noisy", evidence=noise)
    reached = _reached(variant)
    slow = None
    if call.outside >= BOUND:
        result = Verdict(bound="cpu", evidence=_around(call, variant))
    elif (slow := slow_kernel(variant)) is not None:
        result = _by_slow_kernel(call, slow, report)
    else:
        result = _by_kernels(call, reached, report)
    result.limited_by = limit_of(variant, result.bound, estimated=False)
    if slow is None or any(map(is_product, slow.kernel.ops)):
        result.helps = helps_for(result.bound, variant, report, call.device)
    return result


def _reached(variant: VariantReport) -> PeakShares:
    timed = launch_times(variant)
    rated = [
        time for time in timed if time.bandwidth_share is not None or time.compute_share is not None
    ]
    timed_us = sum(time.us for time in timed)
    known = sum(time.us for time in rated) / timed_us if timed_us > 0 else 1.0
    known_of = "their time"
    launches = len(own_launches(variant))
    # A branch is not run, a loop is run often: the launches in the code are not those of a call.
    is_countable = launches > 0 and not control_flow(variant.compilations)
    if is_countable and len(timed) / launches < known:
        known, known_of = len(timed) / launches, "their launches"
    return PeakShares(
        # What is read from a cache says nothing of the memory.
        _weighted_mean(
            [(kernel.us, None if kernel.cached else kernel.bandwidth_share) for kernel in rated]
        ),
        _weighted_mean([(kernel.us, kernel.compute_share) for kernel in rated]),
        known,
        known_of,
        timed_us if is_countable and len(timed) == launches else None,
    )


def _weighted_mean(shares: Sequence[tuple[float, float | None]]) -> float | None:
    """The mean weighted by time; an unknown share counts as 0. None if all are unknown."""
    total = sum(us for us, _ in shares)
    if total <= 0 or all(share is None for _, share in shares):
        return None
    return sum(us * (share or 0.0) for us, share in shares) / total


def _around(spent: TimeBreakdown, variant: VariantReport) -> str:
    what = "on the host before, between and after" if spent.device != "cpu" else "around"
    takes = "take"
    # As in `_reached`, control flow has other launches than the code.
    number = 0 if control_flow(variant.compilations) else spent.launches
    launches = count(number, "kernel") if number else "the kernels"
    if number == 1:
        launches, takes = "its one kernel", "takes"
    if spent.with_wrapper:
        launches, takes = "the wrapper", "takes, with its kernels,"
    text = (
        f"{percent(spent.outside)} of {us_text(spent.whole)} is overhead, spent {what} {launches}, "
        f"which {takes} {us_text(spent.kernels)}"
    )
    largest = _largest(variant, spent)
    return f"{text}; {largest}." if largest else f"{text}."


def _largest(variant: VariantReport, spent: TimeBreakdown) -> str:
    """The layer besides the kernels that takes longest, in words; empty if they do not add up."""
    if not all(layers.agrees for layers in variant.layers):
        return ""
    sums: dict[str, float] = {}
    for layer in parts_of_call(variant):
        if layer.kind not in (*inside_call(with_wrapper=spent.with_wrapper), "idle"):
            sums[layer.kind] = sums.get(layer.kind, 0.0) + layer.us
    if not sums:
        return ""
    kind = max(sums, key=lambda name: sums[name])
    part = "most" if sums[kind] > (spent.whole - spent.kernels) / 2 else "the largest part"
    return f"{part} of that, {us_text(sums[kind])}, in {_LAYERS[kind]}"


_LAYERS = {
    "guards": "entering Dynamo and checking guards",
    "bytecode": "Dynamo's bytecode",
    "aot": "AOTAutograd's runtime",
    "inductor": "entering Inductor's code",
    "wrapper": "the wrapper",
    "launches": "launching kernels",
    "eager": "what is not compiled",
    "other": "what could not be told apart",
}


def _by_slow_kernel(spent: TimeBreakdown, slow: SlowKernel, report: Report) -> Verdict:
    """What the other kernels reach on average says nothing about a call that waits for this one."""
    name = _peaks_name(spent, report)
    reach = f"reaches {slow.reached}{f' ({name})' if name else ''}"
    return Verdict(
        bound="unclear",
        evidence=f"{_kernels_share(spent)}. {slow.takes}: it {slow.computes} and {reach}.",
    )


def _kernels_share(spent: TimeBreakdown) -> str:
    kernels = "The wrapper with its kernels takes" if spent.with_wrapper else "Kernels take"
    return f"{kernels} {percent(spent.inside)} of {us_text(spent.whole)}"


def _peaks_name(spent: TimeBreakdown, report: Report) -> str:
    """The name of the device whose peak rates the kernels are compared with."""
    return next(
        (peak.name or peak.device for peak in report.peaks if _same(peak.device, spent)), ""
    )


def _by_kernels(spent: TimeBreakdown, reached: PeakShares, report: Report) -> Verdict:
    share = _kernels_share(spent)
    if reached.bandwidth is None and reached.compute is None:
        return Verdict(
            bound="unclear",
            evidence=f"{share}; how close they come to the device's peak was not measured.",
        )
    parts = []
    if reached.bandwidth is not None:
        parts.append(f"{percent(reached.bandwidth)} of its bandwidth")
    if reached.compute is not None:
        parts.append(f"{percent(reached.compute)} of its arithmetic peak")
    name = _peaks_name(spent, report)
    reach = "; the kernels reach" if spent.with_wrapper else " and reach"
    figures = f"{share}{reach} {' and '.join(parts)}{f' ({name})' if name else ''}"
    if reached.known < 1 - BOUND:
        figures += f", known for {percent(reached.known)} of {reached.known_of}"
        return Verdict(bound="unclear", evidence=f"{figures}.")
    own_us = reached.timed_us
    if spent.with_wrapper and own_us is not None and own_us < (1 - BOUND) * spent.kernels:
        figures += f", but take {us_text(own_us)} of that"
        return Verdict(bound="unclear", evidence=f"{figures}.")
    more = "" if spent.with_wrapper else _disagreement(spent, reached)
    bandwidth, compute = reached.bandwidth or 0.0, reached.compute or 0.0
    if max(bandwidth, compute) < REACHED:
        return Verdict(bound="unclear", evidence=f"{figures}: neither limits them.{more}")
    # Load only slows kernels: however much there was, they can reach as much.
    return Verdict(
        bound="memory" if bandwidth >= compute else "compute",
        evidence=f"{figures}.{more}",
    )


def _disagreement(spent: TimeBreakdown, reached: PeakShares) -> str:
    """A sentence where the kernels took another time when their rates were measured."""
    timed_us = reached.timed_us
    if timed_us is None or spent.kernels <= 0:
        return ""
    if 1 / _MAX_NOISE_RATIO <= timed_us / spent.kernels <= _MAX_NOISE_RATIO:
        return ""
    return (
        f" The rates come from another measurement, in which the kernels took {us_text(timed_us)} "
        f"instead of {us_text(spent.kernels)}: other load on the machine can cause the difference."
    )


def _same(device: str, spent: TimeBreakdown) -> bool:
    return device.split(":")[0] == spent.device.split(":")[0]
