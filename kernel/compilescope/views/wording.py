"""Formats figures and settings for all views."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..analysis.figures.speedups import over_baseline
from ..analysis.figures.wording import compile_time as compile_time
from ..analysis.figures.wording import count as count
from ..analysis.figures.wording import place as place
from ..report import AS_WRITTEN, Report, SourceLine, Timing, VariantReport
from ..report.references import is_reference
from ..report.units import difference
from ..report.units import duration as duration
from ..report.units import size as size
from ..report.units import whole_number as whole_number
from ..report.variant import Variant

MARKS = {"error": "error", "warning": "warning", "info": "note"}
"""Severity → the word shown for it."""


def speedup(timing: Timing) -> str:
    """Return how many times faster than the baseline; empty without a baseline."""
    ratio = over_baseline(timing)
    return "" if ratio is None else ratio.text


def seconds(variant: VariantReport) -> str:
    """Return a variant's compile time; empty if it was not built."""
    if variant.compile_time is None:
        return ""
    warm = "" if variant.compile_time.cold else " (warm caches)"
    return f"{duration(variant.compile_time.total_s * 1e6)}{warm}"


def accuracy(variant: VariantReport) -> str:
    """Return the outputs' difference from eager's; empty if they were not compared."""
    if not variant.accuracy:
        return ""
    wrong = [error for error in variant.accuracy if not error.ok]
    if wrong:
        worst = max(wrong, key=lambda error: (error.is_unlike, error.max_abs))
        path = worst.path or "output"
        if worst.is_unlike:
            return f"differs: {path}"
        allowed = difference(worst.tolerance_abs)
        return f"{path} differs by {difference(worst.max_abs)} (allowed {allowed})"
    largest = max(error.max_abs for error in variant.accuracy)
    return "equal" if largest == 0 else f"within {difference(largest)}"


def switches(variant: Variant) -> str:
    """Return only those of a variant's switches that differ from the default."""
    if variant.backend is None:
        return "no torch.compile"
    parts: list[str] = []
    if not variant.uses_inductor:
        parts.append(f"backend={variant.backend}")
    if variant.mode is not None:
        parts.append(f"mode={variant.mode}")
    if variant.cpp_wrapper:
        parts.append("cpp_wrapper")
    if variant.dynamic is not None:
        parts.append(f"dynamic={variant.dynamic}")
    if variant.fullgraph:
        parts.append("fullgraph")
    parts += [f"{key}={_value_text(value)}" for key, value in variant.options.items()]
    if variant.target is not None:
        parts.append(f"target={variant.target}")
    return ", ".join(parts) or "defaults"


def settings(report: Report, variant: VariantReport) -> str:
    """Return a variant's switches, and whether the user's own ``torch.compile`` has them."""
    text = switches(variant.requested)
    is_written = report.subject.written == variant.name
    return f"{text} ({AS_WRITTEN})" if is_written and variant.name != AS_WRITTEN else text


def _value_text(value: object) -> str:
    """Return a setting's value; a report has only the name of a function."""
    return str(value) if is_reference(value) else repr(value)


def calls_on(name: str, sentence: str) -> str:
    """Return a sentence with its calls on the variable that holds the report."""
    return re.sub(r"(?<=\()report(?=[,)])", name, sentence)


def places(lines: Iterable[SourceLine]) -> str:
    """Return several places: ``model.py:3; model.py:7``."""
    return "; ".join(map(place, lines))
