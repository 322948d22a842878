"""Which dtype's products are clearly faster on a device, by its peak rates."""

from __future__ import annotations

from typing import NamedTuple

from ....report import Peaks, Report, VariantReport
from ...kernels.rates import rate_of, specified

_CLEARLY = 1.5
"""Matrix products have to be so much faster: casts to bfloat16 and other kernels take time, too."""


def is_native(variant: VariantReport, report: Report, device: str) -> bool:
    """Whether the device computes in bfloat16, which is then no slower than float32.

    Devices without such instructions emulate them, which costs more than the memory traffic saved.
    If the rates are unknown, a GPU is assumed to have them, a CPU not.
    """
    factor = _factor(variant, report, device)
    return not device.startswith("cpu") if factor is None else factor >= 1


def faster_products(variant: VariantReport, report: Report, device: str) -> str:
    """How much faster matrix products are in bfloat16, at most; empty if not clearly."""
    factor = _factor(variant, report, device)
    if factor is None or factor < _CLEARLY:
        return ""
    peaks = _peaks(variant, report, device)
    source = _source(peaks) if peaks is not None else "of the device"
    return (
        f"Matrix products are up to {factor:.1f}\u00d7 faster in bfloat16, by the peak rates "
        f"{source}; results are less precise."
    )


_COSTS = {
    "bfloat16": "bfloat16 has the range of float32 and fewer digits than float16.",
    "float32": "Weights and activations then take twice the memory.",
}
_WIDER = tuple(_COSTS)


def faster_than(dtype: str, variant: VariantReport, report: Report, device: str) -> Faster | None:
    """The dtype of which products are fastest, if clearly faster than in a shorter one.

    A CPU may compute float16 products without instructions for them, far slower than float32.
    """
    peaks = _peaks(variant, report, device)
    if peaks is None or dtype != "float16":
        return None
    rates = {each: rate_of(peaks, each, product=True) or 0.0 for each in (*_WIDER, dtype)}
    best = max(_WIDER, key=lambda each: rates[each])
    if rates[dtype] <= 0 or rates[best] < _CLEARLY * rates[dtype]:
        return None
    factor = rates[best] / rates[dtype]
    return Faster(
        best,
        f"Matrix products are up to {_times(factor)}\u00d7 faster in {best} than in {dtype}, by "
        f"the peak rates {_source(peaks)}. {_COSTS[best]}",
    )


class Faster(NamedTuple):
    """A dtype with faster products."""

    dtype: str
    why: str


def _times(factor: float) -> str:
    return f"{factor:.1f}" if factor < _TEN else f"{factor:.0f}"


_TEN = 9.95


def _source(peaks: Peaks) -> str:
    return "measured here" if peaks.how == "measured" else "of the device"


def _factor(variant: VariantReport, report: Report, device: str) -> float | None:
    peaks = _peaks(variant, report, device)
    if peaks is None:
        return None
    short, full = (rate_of(peaks, dtype, product=True) for dtype in ("bfloat16", "float32"))
    return short / full if short and full else None


def _peaks(variant: VariantReport, report: Report, device: str) -> Peaks | None:
    """The peaks of the target, or of the first device of the kind that the report has."""
    if variant.target is not None:
        return specified(device, variant.target.device)
    kind = device.partition(":")[0]
    return next((peaks for peaks in report.peaks if peaks.device.partition(":")[0] == kind), None)
