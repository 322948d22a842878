"""What limits a call, and where its time goes as the parts of one bar."""

from __future__ import annotations

from ...report import Limit, Part, Report, VariantReport, Verdict
from ...report.overview import Limited, LimitStudy
from ...report.units import duration, percent
from ..figures.counts import always_recompiles, compiled_nothing
from . import next_calls
from .bounds import ONE_KERNEL, TITLES, disturbance, limited_by, sum_of_layers
from .cpp_wrapper_gain import called_us, matches_timing
from .slow_kernel import slow_kernel
from .time_breakdown import GROUPS, TimeBreakdown, sums, time_breakdown
from .variants import title

_MIN_SHARE = 0.005
"""The smallest share of a call that the bar shows."""

UNMEASURED = "Not measured yet."
UNSEEN = "The time of a call was not broken down."
UNBUILT = "The variant is not built."
NO_ESTIMATE = "No estimate."


def limit(now: VariantReport, report: Report) -> Limit | None:
    """What limits a call of the variant that the overview is about.

    If its layers were not measured, another variant's are used. None without a call: nothing was
    compiled, or it is only watched. None too if every call recompiles and ends in eager, which the
    headline says.
    """
    if report.subject.kind in ("watch", "trace", "package") or always_recompiles(now):
        return None
    looked = [
        candidate
        for candidate in report.variants
        if candidate.layers and candidate.target is None and candidate.verdict
    ]
    variant = now if now.layers or now.target or not looked else looked[0]
    if variant.stage == "failed" or compiled_nothing(variant):
        return None
    limits = Limit(variant=variant.name, title=title(variant), headline=UNMEASURED)
    verdict = variant.verdict
    if verdict is None:
        _leave_open(limits, variant, report)
        return limits
    limits.parts = _parts(variant)
    if noise := disturbance(variant):
        limits.headline, limits.text, limits.parts = _sentence(TITLES["noisy"]), noise, []
        _suggest("layers", limits, report)
        return limits
    limits.basis = "estimated" if verdict.estimated else "measured"
    limits.view = "targets" if verdict.estimated else limits.view
    limits.text = verdict.evidence
    limits.bound = _bound(variant, verdict)
    limits.calls = _calls(variant)
    limits.headline = _headline(limits.bound, time_breakdown(variant))
    slow = slow_kernel(variant)
    if limits.bound == "unclear" and slow is not None:
        limits.headline = f"{ONE_KERNEL.capitalize()}: {slow.takes}."
    if limits.bound == "unclear" and "kernels" not in variant.studied and not verdict.estimated:
        _suggest("kernels", limits, report)
    return limits


def _suggest(study: LimitStudy, limits: Limit, report: Report) -> None:
    limits.study = study
    limits.remedy = next_calls.study(study, report)


def _calls(variant: VariantReport) -> str:
    """Which calls were broken down, if their time differs from the measured latency."""
    timing = variant.timing
    if not variant.layers or timing is None:
        return ""
    called, whole = called_us(variant), sum(layers.whole_us for layers in variant.layers)
    if whole > called > 0:
        parts = f"a call of {duration(called)} and its backward of {duration(whole - called)}"
        return f"The parts cover {parts}."
    if not all(layers.agrees for layers in variant.layers):
        whole, own = sum_of_layers(variant)
        return (
            f"The breakdown is a separate run, in which the layers add up to {duration(own)} and a "
            f"call took {duration(whole)}."
        )
    if matches_timing(variant):
        return ""
    return (
        f"The breakdown is a separate run, in which a call took {duration(called)} "
        f"instead of {duration(timing.median_us)}."
    )


def _headline(bound: Limited, call: TimeBreakdown | None) -> str:
    """The limit, with its share of a call, as in the evidence."""
    if bound in ("launch", "overhead"):
        if call is None:
            return _sentence(TITLES[bound])
        what = "the wrapper and its kernels run" if call.with_wrapper else "kernels run"
        # Very short kernels may be measured as 0.
        share = percent(call.inside) if call.inside > 0 else "under 1 %"
        return f"{TITLES[bound].capitalize()}: {what} for {share} of a call."
    if bound in ("memory", "compute"):
        return _sentence(TITLES[bound])
    if call is None:
        return _sentence(TITLES["unclear"])
    what = "The wrapper with its kernels takes" if call.with_wrapper else "Kernels take"
    return f"{what} {percent(call.inside)} of a call."


def _sentence(words: str) -> str:
    return f"{words.capitalize()}."


def _leave_open(limits: Limit, variant: VariantReport, report: Report) -> None:
    """Why the limit is unknown, and how to find it."""
    if variant.target is not None:
        limits.text = variant.absent.get("estimate", NO_ESTIMATE)
        return
    limits.text = variant.absent.get("layers") or variant.absent.get("verdict") or ""
    limits.unbuilt = variant.stage != "built"
    limits.text = limits.text or (UNBUILT if limits.unbuilt else UNSEEN)
    if "layers" not in variant.studied:
        _suggest("layers", limits, report)


def _bound(variant: VariantReport, verdict: Verdict) -> Limited:
    limited = limited_by(variant, verdict)
    if limited == "" or limited == "noisy":
        return "unknown"
    return limited


def _parts(variant: VariantReport) -> list[Part]:
    """The parts of the bar: shares of the call, and the time that no layer accounts for."""
    by_group = sums(variant)
    # Without a time of its own, the rest of the call is not attributed.
    whole = sum(layers.whole_us for layers in variant.layers)
    if whole <= 0:
        return []
    by_group["other"] += max(whole - sum(by_group.values()), 0.0)
    overlaps = any(
        layer.device_us is not None and layer.device_us > layer.us
        for layers in variant.layers
        for layer in layers.layers
    )
    parts: list[Part] = []
    for kind, (name, _) in GROUPS.items():
        us = by_group[kind]
        if us / whole >= _MIN_SHARE:
            title = WAITING if kind == "kernels" and overlaps else name
            share = us / whole
            parts.append(
                Part(kind=kind, title=title, us=us, share=share, text=f"{title} {percent(share)}")
            )
    return parts


WAITING = "waiting for kernels"
"""The part of a GPU's kernel time that a call waits for; the rest overlaps with the host."""
