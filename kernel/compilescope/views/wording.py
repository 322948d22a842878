"""How figures and settings read, the same in every view."""

from __future__ import annotations

import re

from ..report import SourceLine, Timing, VariantReport
from ..variant import Variant

MARKS = {"error": "error", "warning": "warning", "info": "note"}
"""Severity → the word shown for it."""
_LEAST = 1e-6
"""Less than that is what rounding leaves of nothing, in µs."""


def duration(time_us: float) -> str:
    """Return a time given in µs, with three significant digits and the unit that fits."""
    if _LEAST <= abs(time_us) < 0.1:
        size = time_us * 1e3
        return f"{f'{size:.2g}' if abs(size) < 0.01 else _three_digits(size)} ns"
    for limit, factor, unit in ((1e3, 1.0, "µs"), (1e6, 1e-3, "ms")):
        # 999.6 µs would round to 1000 µs: the larger unit takes over where the rounding does.
        if abs(time_us) < limit * 0.9995:
            return f"{_three_digits(time_us * factor)} {unit}"
    return f"{_three_digits(time_us * 1e-6)} s"


def _three_digits(value: float) -> str:
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def interval(timing: Timing) -> str:
    """Return the 95 % interval of the median, low to high."""
    low, high = timing.interval_us
    return f"{duration(low)} to {duration(high)}"


def ratio(timing: Timing) -> str:
    """Return how many times faster than the baseline; empty where there is no baseline."""
    if timing.differs is False:
        return "no difference"
    return "" if timing.ratio is None else f"{timing.ratio:.2f}\u00d7"


def ratio_interval(timing: Timing) -> str:
    """Return the ratio's interval; empty where there is none."""
    if timing.ratio_interval is None:
        return ""
    low, high = timing.ratio_interval
    return f"{low:.2f} to {high:.2f}"


def seconds(variant: VariantReport) -> str:
    """Return a variant's compile time; empty where it was not built."""
    if variant.compile_time is None:
        return ""
    warm = "" if variant.compile_time.cold else " (warm caches)"
    return f"{variant.compile_time.total_s:.2f} s{warm}"


def stage(variant: VariantReport) -> str:
    """Return what was done with a variant, in words."""
    if variant.target is not None and variant.stage != "failed":
        done = "compiled" if "assembly" in variant.studied else "sources"
        return f"{done} for {variant.target.device.name}, not run"
    return {"sources": "sources only", "built": "built and run", "failed": "failed"}[variant.stage]


def accuracy(variant: VariantReport) -> str:
    """Return how far the outputs are from eager's; empty where they were not compared."""
    if not variant.accuracy:
        return ""
    wrong = [error for error in variant.accuracy if not error.ok]
    if wrong:
        worst = max(wrong, key=lambda error: error.max_abs)
        path = worst.path or "output"
        return f"{path} differs by {worst.max_abs:.1e} (allowed {worst.tolerance_abs:.1e})"
    largest = max(error.max_abs for error in variant.accuracy)
    return "equal" if largest == 0 else f"within {largest:.1e}"


def switches(variant: Variant) -> str:
    """Return a variant's switches, those that differ from the default alone."""
    if variant.backend is None:
        return "no torch.compile"
    told: list[str] = []
    if variant.backend != "inductor":
        told.append(f"backend={variant.backend}")
    if variant.mode is not None:
        told.append(f"mode={variant.mode}")
    if variant.cpp_wrapper:
        told.append("cpp_wrapper")
    if variant.dynamic is not None:
        told.append(f"dynamic={variant.dynamic}")
    if variant.fullgraph:
        told.append("fullgraph")
    told += [f"{key}={value!r}" for key, value in variant.options.items()]
    if variant.target is not None:
        told.append(f"target={variant.target}")
    return ", ".join(told) or "defaults"


def place(where: SourceLine | None) -> str:
    """Return ``file:line``, the file without its folders; empty for an unknown place.

    A notebook cell has a file name that says nothing to its author: it reads ``cell, line 3``.
    """
    if where is None:
        return ""
    parts = where.file.replace("\\", "/").split("/")
    if any(part.startswith("ipykernel_") for part in parts[:-1]):
        return f"cell, line {where.line}"
    number = re.match(r"<ipython-input-(\d+)-", parts[-1])
    if number:
        return f"In[{number[1]}], line {where.line}"
    return f"{parts[-1]}:{where.line}" if parts[-1] else f"line {where.line}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 guard`` or ``2 guards``; an irregular plural is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
