"""What limits a call, and where its time goes as the parts of one bar."""

from __future__ import annotations

from ...report import Limit, Part, Report, VariantReport
from ...report.overview import Limited
from ...report.timings import LayerKind
from ..figures.wording import duration, percent
from .conflicts import conflict
from .variants import title
from .wrapper import trusted

_GROUPS: dict[LayerKind, tuple[str, tuple[LayerKind, ...]]] = {
    "guards": ("Dynamo and guards", ("guards", "bytecode")),
    "aot": ("AOTAutograd", ("aot",)),
    "wrapper": ("wrapper", ("inductor", "wrapper")),
    "launches": ("launches", ("launches",)),
    "kernels": ("kernels", ("kernels",)),
    "eager": ("eager", ("eager",)),
    "other": ("other", ("idle", "other")),
}
"""The layer that stands for a part of the bar → its title, and the layers in it."""
_TITLES: dict[Limited, str] = {
    "launch": "Launch-bound",
    "overhead": "Overhead-bound",
    "memory": "Memory-bound",
    "compute": "Compute-bound",
}
_LEAST = 0.005
"""Of a call; a part below that is not seen."""

UNMEASURED = "Not measured yet."
ASK = "Break down the time to see what limits a call."
DISTURBED = (
    "The breakdown took calls of {whole}, against {median} when they were timed: something else "
    "kept the machine busy. Break down the time again."
)


def limit(now: VariantReport, report: Report) -> Limit | None:
    """What limits a call of the variant that the overview is about.

    Of the variants in the report, one whose layers were measured takes its place if its own were
    not. None where there is no call: nothing was compiled, or it is only watched.
    """
    if report.subject.kind in ("watch", "trace", "package"):
        return None
    looked = [one for one in report.variants if one.layers and one.target is None and one.verdict]
    variant = now if now.layers or now.target or not looked else looked[0]
    if variant.stage == "failed" or not (variant.compilations or variant.layers):
        return None
    found = Limit(variant=variant.name, title=title(variant), headline=UNMEASURED)
    verdict = variant.verdict
    if verdict is None:
        found.text = variant.absent.get("layers", "") or variant.absent.get("verdict", "") or ASK
        return found
    found.parts = _parts(variant)
    timing = variant.timing
    if variant.layers and timing is not None and not trusted(variant):
        whole = sum(layer.whole_us for layer in variant.layers)
        found.headline, found.parts = "Too noisy to judge.", []
        found.text = DISTURBED.format(whole=duration(whole), median=duration(timing.median_us))
        if all(layer.agrees for layer in variant.layers):
            return found
        found.text = " ".join(layer.why for layer in variant.layers if layer.why) or found.text
        return found
    if not variant.layers and (contradiction := conflict(variant)) is not None:
        found.headline, found.text = "Too noisy to judge.", contradiction.text
        return found
    found.basis = "estimated" if verdict.estimated else "measured"
    found.text = verdict.evidence
    found.bound = _bound(variant)
    kernels = sum(part.share for part in found.parts if part.kind == "kernels")
    if found.bound in ("launch", "overhead"):
        where = "kernels run" if found.parts else ""
        share = f": {where} for {percent(kernels)} of a call" if where else ""
        found.headline = f"{_TITLES[found.bound]}{share}."
    elif found.bound in ("memory", "compute"):
        found.headline = f"{_TITLES[found.bound]}."
    else:
        share = f"Kernels take {percent(kernels)} of a call." if found.parts else ""
        found.headline = share or "Not clear."
    return found


def _bound(variant: VariantReport) -> Limited:
    verdict = variant.verdict
    if verdict is None:
        return "unknown"
    if verdict.bound == "cpu":
        if verdict.estimated:
            return "launch"
        sums = _sums(variant)
        around = {kind: us for kind, us in sums.items() if kind not in ("kernels", "other")}
        most = max(around, key=lambda kind: around[kind], default="guards")
        return "launch" if most == "launches" else "overhead"
    if verdict.bound == "memory":
        return "memory"
    return "compute" if verdict.bound == "compute" else "unclear"


def _parts(variant: VariantReport) -> list[Part]:
    """The bar: shares of the layers' sum, which is the whole call where they add up."""
    sums = _sums(variant)
    whole = sum(sums.values())
    if whole <= 0:
        return []
    parts: list[Part] = []
    for kind, (name, _) in _GROUPS.items():
        us = sums.get(kind, 0.0)
        if us / whole >= _LEAST:
            share = us / whole
            text = f"{name} {percent(share)}"
            parts.append(Part(kind=kind, title=name, us=us, share=share, text=text))
    return parts


def _sums(variant: VariantReport) -> dict[LayerKind, float]:
    layers = [layer for one in variant.layers for layer in one.layers]
    return {
        kind: sum(max(layer.us, 0.0) for layer in layers if layer.kind in kinds)
        for kind, (_, kinds) in _GROUPS.items()
    }
