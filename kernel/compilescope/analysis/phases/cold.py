"""Compares each setting's first call with the one without it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...report import VariantReport
from ...report.measurements.timings import AS_IT_IS, ColdSwitch
from ...report.units import duration

MIN_DIFFERENCE = 0.05
"""As a share of the whole: smaller differences are noise, whatever the measured noise."""


def compare(rows: Sequence[ColdSwitch]) -> None:
    """Fills in each row's difference from the rows with unchanged settings.

    Two processes with the same settings differ too. A difference no larger than theirs counts as
    zero; so does a call's time whose interval overlaps one of theirs. Without an interval nothing
    is said about a larger difference between calls.
    """
    usual = [row for row in rows if row.switch == AS_IT_IS]
    cold = [row.cold_s for row in usual if row.cold_s is not None]
    warm = [row.warm_s for row in usual if row.warm_s is not None]
    call = [row.call_us for row in usual if row.call_us is not None]
    for row in rows:
        if row.switch != AS_IT_IS:
            row.cold_more_s = _difference(row.cold_s, cold)
            row.warm_more_s = _difference(row.warm_s, warm)
            row.call_more_us = _difference(row.call_us, call)
            if row.call_more_us:
                row.call_more_us = _beyond_noise(row.call_more_us, row, usual)


def add_words(variant: VariantReport) -> None:
    """Names a variant's settings, and says which of them shorten the first call most."""
    for row in variant.cold:
        row.label = _label(row)
    variant.cold_gain = _gain(variant.cold)


def _label(row: ColdSwitch) -> str:
    if row.switch == AS_IT_IS:
        return "current settings, again" if row.value else "current settings"
    if not row.value:
        return row.switch
    names, values = row.switch.split(", "), row.value.split(", ")
    if len(names) != len(values):
        return f"{row.switch} = {row.value}"
    return ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))


def _gain(rows: Sequence[ColdSwitch]) -> str:
    if not any(row.switch != AS_IT_IS and (row.cold_s or row.warm_s) for row in rows):
        return ""
    cold = _largest((row.cold_more_s, row.cold_s, row.label) for row in rows)
    warm = _largest((row.warm_more_s, row.warm_s, row.label) for row in rows)
    return f"Largest gain: with cold caches {cold}; with warm caches {warm}."


def _largest(rows: Iterable[tuple[float | None, float | None, str]]) -> str:
    shorter = [(more, total, label) for more, total, label in rows if more and more < 0 and total]
    if not shorter:
        return "nothing"
    more, total, label = min(shorter)
    return f"{label} ({duration(total * 1e6)}, {duration(-more * 1e6)} less)"


def _beyond_noise(more_us: float, row: ColdSwitch, usual: Sequence[ColdSwitch]) -> float | None:
    """A difference between calls: 0 if their intervals overlap, None if one has no interval."""
    interval = row.call_interval_us
    others = [other.call_interval_us for other in usual if other.call_us is not None]
    if interval is None or None in others:
        return None
    low, high = interval
    is_noise = any(low <= other[1] and other[0] <= high for other in others if other is not None)
    return 0.0 if is_noise else more_us


def _difference(value: float | None, usual: Sequence[float]) -> float | None:
    if value is None or not usual:
        return None
    middle = sum(usual) / len(usual)
    chance = max(max(usual) - min(usual), MIN_DIFFERENCE * middle)
    return value - middle if abs(value - middle) > chance else 0.0
