"""What would limit a variant on a target device, from estimates alone."""

from __future__ import annotations

from ...report import Estimate, Report, TargetReport, VariantReport, Verdict
from ...report.units import whole_number
from ..figures.wording import count
from ..wrapper.launches import launches_of
from .bounds import limit_of, us_text
from .suggestions.verdict_helps import helps_for

_MIN_LIMITED_SHARE = 0.5
"""The share of the kernels' time that one peak must limit to be the variant's limit."""


def target_verdict(variant: VariantReport, report: Report) -> Verdict | None:
    """A verdict on a variant for a target, marked as estimated.

    The kernels overlap with the host that launches them, so the longer of the two is the limit.
    Kernels without an estimate make the kernels' time a lower bound: that it is shorter than
    launching them is then not known. What limits most of their time is said if it stays so where
    each of them takes as long as the longest other one.

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
    launching = f"about {us_text(estimate.launch_us)} on the CPU for {launches}"
    device = target.device.name
    known = estimate.launches - estimate.unknown
    if estimate.launch_us > estimate.kernels_us:
        if estimate.unknown:
            kernels = f"at least {us_text(estimate.kernels_us)} in {count(known, 'kernel')}"
            others = f"{kernels} on the {device}. " if known else ""
            which = f"{_lacking(estimate)}, so which takes longer is not known."
            evidence = f"Estimated: {launching}{', and ' if known else '. '}{others}{which}"
            return Verdict(bound="unclear", evidence=evidence)
        return Verdict(
            bound="cpu",
            evidence=f"Estimated: {launching}, longer than the kernels take on the {device}.",
        )
    by_memory, longest_us = _bound_by_memory(variant)
    # What limits most of the time is known only as far as the other launches cannot outweigh it.
    whole_us = estimate.kernels_us + estimate.unknown * longest_us
    by_arithmetic = estimate.kernels_us - by_memory
    kernels = f"at least {us_text(estimate.kernels_us)} in kernels on the {device}"
    if estimate.unknown and max(by_memory, by_arithmetic) <= _MIN_LIMITED_SHARE * whole_us:
        return Verdict(
            bound="unclear",
            evidence=f"Estimated: {kernels}. {_lacking(estimate)}, so what limits most of the "
            f"time is not known. {_capital(launching)}.",
        )
    share = by_memory / estimate.kernels_us if estimate.kernels_us else 0.0
    is_memory = by_memory >= by_arithmetic
    part = max(share, 1 - share)
    what = "memory bandwidth" if is_memory else "arithmetic"
    lacking = f" {_lacking(estimate)} and would add to it." if estimate.unknown else ""
    return Verdict(
        bound="memory" if is_memory else "compute",
        evidence=f"Estimated: {kernels}, {100 * part:.0f} % of that in launches "
        f"limited by {what}.{lacking} {_capital(launching)}.",
    )


def _lacking(estimate: Estimate) -> str:
    """How many launches have no estimate: ``2 of 7 launches have no estimate``."""
    have = "has" if estimate.unknown == 1 else "have"
    launches = count(estimate.launches, "launch", "launches")
    return f"{whole_number(estimate.unknown)} of {launches} {have} no estimate"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _bound_by_memory(variant: VariantReport) -> tuple[float, float]:
    """The time of the memory-bound launches, and that of the longest launch, in µs."""
    launches = [
        launch
        for compilation in variant.compilations
        for _, launch in launches_of(compilation)
        if launch.estimated_us is not None
    ]
    by_memory = [
        launch.estimated_us or 0.0 for launch in launches if launch.estimated_bound == "memory"
    ]
    longest = max((launch.estimated_us or 0.0 for launch in launches), default=0.0)
    return sum(by_memory), longest
