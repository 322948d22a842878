"""What limits a call, and where its time goes as the parts of one bar."""

from __future__ import annotations

from ...report import Limit, Part, Report, VariantReport, Verdict
from ...report.overview import Limited
from ..figures.wording import percent
from .bounds import GROUPS, disturbance, limited_by, sums
from .variants import title

_TITLES: dict[Limited, str] = {
    "launch": "Launch-bound",
    "overhead": "Overhead-bound",
    "memory": "Memory-bound",
    "compute": "Compute-bound",
}
_LEAST = 0.005
"""Of a call; a part below that is not seen."""

UNMEASURED = "Not measured yet."
UNSEEN = "The time of a call was not broken down."
UNBUILT = "The variant is not built."
NO_ESTIMATE = "No estimate."
REMEDY = 'cs.study(report, "layers"), in the session that inspected the call, breaks it down.'


def limit(now: VariantReport, report: Report) -> Limit | None:
    """What limits a call of the variant that the overview is about.

    Of the variants in the report, one whose layers were measured takes its place if its own were
    not. None where there is no call: nothing was compiled, or it is only watched.
    """
    if report.subject.kind in ("watch", "trace", "package"):
        return None
    looked = [
        candidate
        for candidate in report.variants
        if candidate.layers and candidate.target is None and candidate.verdict
    ]
    variant = now if now.layers or now.target or not looked else looked[0]
    if variant.stage == "failed" or not (variant.compilations or variant.layers):
        return None
    limits = Limit(variant=variant.name, title=title(variant), headline=UNMEASURED)
    verdict = variant.verdict
    if verdict is None:
        _leave_open(limits, variant)
        return limits
    limits.parts = _parts(variant)
    if noise := disturbance(variant):
        limits.headline, limits.text, limits.parts = "Too noisy to judge.", noise, []
        limits.remedy = REMEDY
        return limits
    limits.basis = "estimated" if verdict.estimated else "measured"
    limits.text = verdict.evidence
    limits.bound = _bound(variant, verdict)
    kernels = sum(part.share for part in limits.parts if part.kind == "kernels")
    if limits.bound in ("launch", "overhead"):
        where = "kernels run" if limits.parts else ""
        # Kernels that take next to nothing may be measured as nothing.
        kernel_share = percent(kernels or _LEAST / 2)
        share = f": {where} for {kernel_share} of a call" if where else ""
        limits.headline = f"{_TITLES[limits.bound]}{share}."
    elif limits.bound in ("memory", "compute"):
        limits.headline = f"{_TITLES[limits.bound]}."
    else:
        share = f"Kernels take {percent(kernels)} of a call." if limits.parts else ""
        limits.headline = share or "Not clear."
    return limits


def _leave_open(limits: Limit, variant: VariantReport) -> None:
    """Why it is not known, and what gives it."""
    if variant.target is not None:
        limits.text = variant.absent.get("estimate", NO_ESTIMATE)
        return
    limits.text = variant.absent.get("layers") or variant.absent.get("verdict") or ""
    limits.unbuilt = variant.stage != "built"
    limits.text = limits.text or (UNBUILT if limits.unbuilt else UNSEEN)
    if "layers" not in variant.studied:
        limits.remedy = REMEDY


def _bound(variant: VariantReport, verdict: Verdict) -> Limited:
    limited = limited_by(variant, verdict)
    if limited == "" or limited == "noisy":
        return "unknown"
    return limited


def _parts(variant: VariantReport) -> list[Part]:
    """The bar: shares of the layers' sum, which is the whole call where they add up."""
    by_group = sums(variant)
    whole = sum(by_group.values())
    if whole <= 0:
        return []
    parts: list[Part] = []
    for kind, (name, _) in GROUPS.items():
        us = by_group[kind]
        if us / whole >= _LEAST:
            share = us / whole
            text = f"{name} {percent(share)}"
            parts.append(Part(kind=kind, title=name, us=us, share=share, text=text))
    return parts
