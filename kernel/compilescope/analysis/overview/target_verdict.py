"""What would limit a variant on a target device, from estimates alone."""

from __future__ import annotations

from ...report import Estimate, Report, TargetReport, VariantReport, Verdict
from ...report.units import whole_number
from ..figures.wording import count
from ..target.roofline import MOST_UNKNOWN
from ..wrapper.launches import launches_of
from .bounds import limit_of
from .verdict_helps import helps_for

_MOST = 0.5
"""The share of the kernels' time that one peak must limit to be the variant's limit."""


def target_verdict(variant: VariantReport, report: Report) -> Verdict | None:
    """A verdict on a variant for a target, marked as estimated.

    The kernels overlap with the host that launches them, so the longer of the two is the limit.

    Returns
    -------
    Verdict or None
        None if there is no estimate, or nothing runs on the target.
    """
    target = variant.target
    if target is None or target.estimate is None or not target.estimate.launches:
        return None
    verdict = _judged(variant, target, target.estimate)
    verdict.estimated = True
    verdict.limited_by = limit_of(variant, verdict.bound, estimated=True)
    verdict.helps = helps_for(verdict.bound, variant, report, "cuda")
    return verdict


def _judged(variant: VariantReport, target: TargetReport, estimate: Estimate) -> Verdict:
    launches = count(estimate.launches, "launch", "launches")
    unknown = whole_number(estimate.unknown)
    if estimate.unknown > MOST_UNKNOWN * estimate.launches:
        return Verdict(
            bound="unclear",
            evidence=f"Estimated: of {launches}, {unknown} have no estimate.",
        )
    uncounted = f", {unknown} of {launches} not counted" if estimate.unknown else ""
    if estimate.launch_us > estimate.kernels_us:
        return Verdict(
            bound="cpu",
            evidence=f"Estimated: about {_us(estimate.launch_us)} on the CPU for {launches}, "
            f"longer than the kernels take on the {target.device.name}{uncounted}.",
        )
    kernels = f"at least {_us(estimate.kernels_us)} in kernels on the {target.device.name}"
    kernels += uncounted
    memory_us = _bound_by_memory(variant)
    share = memory_us / estimate.kernels_us if estimate.kernels_us else 0.0
    part = max(share, 1 - share)
    what = "memory bandwidth" if share >= _MOST else "arithmetic"
    return Verdict(
        bound="memory" if share >= _MOST else "compute",
        evidence=f"Estimated: {kernels}, {100 * part:.0f} % of that in launches "
        f"limited by {what}. About {_us(estimate.launch_us)} on the CPU for {launches}.",
    )


def _bound_by_memory(variant: VariantReport) -> float:
    """The time of the memory-bound launches, in µs."""
    return sum(
        launch.estimated_us or 0.0
        for compilation in variant.compilations
        for _, launch in launches_of(compilation)
        if launch.estimated_bound == "memory"
    )


def _us(us: float) -> str:
    if us >= 1e4:
        return f"{us / 1e3:.1f} ms"
    return f"{us:.0f} µs" if us >= 100 else f"{us:.1f} µs"
