"""Which of the four limits a call meets, and when its figures are too noisy to tell."""

from __future__ import annotations

from ...report import VariantReport, Verdict
from ...report.measurements.timings import Bound, LimitedBy
from ...report.units import duration
from .conflicts import conflict
from .cpp_wrapper_gain import called_us, near_timing, trusted
from .slow_kernel import slow_kernel
from .time_breakdown import sums

BOUND = 0.5
"""A call that spends at least this share of its time outside kernels is limited by overhead."""
_MAX_GAP = 0.25
"""The largest gap between a call and the sum of its layers, as a share of the call, at which the
layers can still say what limits it."""

TITLES: dict[LimitedBy, str] = {
    "launch": "launch-bound",
    "overhead": "overhead-bound",
    "memory": "memory-bound",
    "compute": "compute-bound",
    "noisy": "too noisy to judge",
    "unclear": "not clear",
}
ONE_KERNEL = "one slow kernel"
"""The title in place of that of ``unclear`` where a kernel far from the peaks takes most time."""
_ONE_KERNEL_MEANS = "One kernel takes most of the kernels' time, far from the device's peaks."
_MEANINGS: dict[LimitedBy, str] = {
    "launch": "Most time is spent on the host, launching kernels.",
    "overhead": "Most time is spent on the host, around the kernels.",
    "memory": "Moving fewer bytes would make the call faster.",
    "compute": "Less arithmetic would make the call faster.",
    "noisy": "The figures contradict each other.",
    "unclear": "No single limit stands out.",
}
_NOT_THE_SAME_CALLS = (
    "A call took {whole} in the breakdown, but {median} when timed: the machine was busy with "
    "other work."
)
_NO_SUM = (
    "The parts of the breakdown do not add up to a call: the machine was busy with other work."
)


def disturbance(variant: VariantReport) -> str:
    """Why a variant's figures are unreliable, in words; empty if they are reliable."""
    if not variant.layers:
        contradiction = conflict(variant)
        return "" if contradiction is None else contradiction.text
    if trusted(variant) or open_time_decides_nothing(variant):
        return ""
    if not all(layers.agrees for layers in variant.layers):
        why = (layers.why for layers in variant.layers if layers.why and not layers.agrees)
        return next(why, _NO_SUM)
    whole = duration(called_us(variant))
    median = duration(variant.timing.median_us) if variant.timing is not None else "none"
    return _NOT_THE_SAME_CALLS.format(whole=whole, median=median)


def open_time_decides_nothing(variant: VariantReport) -> bool:
    """Whether the gap between a call and its layers cannot change what limits the call.

    True if kernels take more than half the call, or less than half, whichever layer the missing
    time belongs to. CPU only: on a GPU, kernels overlap with the host.
    """
    whole, own = sum_of_layers(variant)
    if (
        not near_timing(variant)
        or abs(whole - own) > _MAX_GAP * whole
        or any(layers.device != "cpu" for layers in variant.layers)
    ):
        return False
    kernels = sum(
        max(layer.us, 0.0)
        for layers in variant.layers
        for layer in layers.layers
        if layer.kind in ("kernels", "compiled")
    )
    least, most = kernels / max(whole, own), (kernels + max(whole - own, 0.0)) / whole
    return least >= BOUND or most < BOUND


def sum_of_layers(variant: VariantReport) -> tuple[float, float]:
    """The time of the calls that were broken down, and of all their layers, in µs."""
    whole = sum(layers.whole_us for layers in variant.layers)
    return whole, sum(max(layer.us, 0.0) for layers in variant.layers for layer in layers.layers)


def add_words(variant: VariantReport) -> None:
    """Put the limit of a variant's verdict into words."""
    verdict = variant.verdict
    if verdict is not None:
        limit = limited_by(variant, verdict)
        verdict.title, verdict.meaning = TITLES[limit], _MEANINGS[limit]
        if limit == "unclear" and slow_kernel(variant) is not None:
            verdict.title, verdict.meaning = ONE_KERNEL, _ONE_KERNEL_MEANS


def limited_by(variant: VariantReport, verdict: Verdict) -> LimitedBy:
    """The limit that a verdict names.

    Verdicts of earlier versions only tell the host from the device. Then the layers show what the
    host does; without layers it counts as overhead.
    """
    return verdict.limited_by or limit_of(variant, verdict.bound, estimated=verdict.estimated)


def limit_of(variant: VariantReport, bound: Bound, *, estimated: bool) -> LimitedBy:
    """The limit that a call meets; ``bound`` says whether it is on the host."""
    if bound != "cpu":
        return bound
    if estimated:
        return "launch"
    inside = ("kernels", "compiled", "other")
    around = {kind: us for kind, us in sums(variant).items() if kind not in inside}
    # max() returns the first of equals: without layers, overhead.
    return "launch" if max(around, key=lambda kind: around[kind]) == "launches" else "overhead"


def us_text(us: float) -> str:
    """A time in a verdict's evidence: ``12.3 µs``, ``250 µs``, ``12.5 ms``."""
    if us >= 1e4:
        return f"{us / 1e3:.1f} ms"
    return f"{us:.0f} µs" if us >= 100 else f"{us:.1f} µs"
