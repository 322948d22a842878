"""How figures read, the same in every sentence and in every view."""

from __future__ import annotations

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


def of_whole(part_us: float, whole_us: float) -> str:
    """Return a part of a time in the whole's unit: ``0.75 of 2.19 ms``."""
    part, whole = duration(part_us), duration(whole_us)
    unit = whole.rpartition(" ")[2]
    if part.endswith(f" {unit}"):
        return f"{part.rpartition(' ')[0]} of {whole}"
    return f"{part} of {whole}"


def percent(share: float) -> str:
    """Return a share in whole percent; ``under 1 %`` of what is there."""
    return "under 1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 guard`` or ``2 guards``; an irregular plural is given."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def round_number(value: float) -> str:
    """Return a large number with two digits that count: ``57,000``."""
    if value < 10:
        return f"{max(value, 1):.0f}"
    digits = len(str(int(value))) - 2
    return f"{round(value, -digits):,.0f}"


def _three_digits(value: float) -> str:
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
