"""Formats times and sizes: the only place that chooses a unit."""

from __future__ import annotations

_LEAST = 1e-6
"""A time below this, in µs, is zero with a rounding error."""


def duration(time_us: float) -> str:
    """Return a time given in µs, with three significant digits and the unit that fits."""
    if _LEAST <= abs(time_us) < 0.1:
        size = time_us * 1e3
        return f"{f'{size:.2g}' if abs(size) < 0.01 else _three_digits(size)} ns"
    for limit, factor, unit in ((1e3, 1.0, "µs"), (1e6, 1e-3, "ms")):
        # 999.6 µs would round to 1000 µs, so the larger unit starts where rounding reaches it.
        if abs(time_us) < limit * 0.9995:
            return f"{_three_digits(time_us * factor)} {unit}"
    return f"{_three_digits(time_us * 1e-6)} s"


def size(count: float) -> str:
    """Return a number of bytes, with up to three significant digits and the unit that fits."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    exponent = 0
    while count >= 1024 and exponent < len(units) - 1:
        count /= 1024
        exponent += 1
    digits = 0 if exponent == 0 or count >= 100 else 1 if count >= 10 else 2
    return f"{count:.{digits}f} {units[exponent]}"


def _three_digits(value: float) -> str:
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
