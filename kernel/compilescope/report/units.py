"""Formats times, sizes and counts: unit and digits of every figure in a sentence or a cell.

``src/words/format.ts`` formats what the panel draws by itself, by the same rules. Both are tested
with ``tests/data/formats.json``.
"""

from __future__ import annotations

import time

_ZERO_US = 1e-6
"""A time below this, in µs, is zero with a rounding error."""


def duration(time_us: float) -> str:
    """Return a time given in µs, with three significant digits and the unit that fits."""
    factor, unit = _unit(time_us)
    return f"{_three_digits(time_us * factor)} {unit}"


def duration_range(low_us: float, high_us: float) -> str:
    """Return a range of times given in µs: ``12.1\u201312.6 µs``; a wide one with two units."""
    factor, unit = _unit(high_us)
    if low_us >= _ZERO_US and low_us * factor < 0.1:
        return f"{duration(low_us)}\u2013{duration(high_us)}"
    low, high = _three_digits(low_us * factor), _three_digits(high_us * factor)
    return f"{high} {unit}" if low == high else f"{low}\u2013{high} {unit}"


def rough_duration(seconds: float) -> str:
    """Return an estimated time given in seconds, with an estimate's precision: ``about 3 min``."""
    if seconds >= 5400:
        return f"about {seconds / 3600:.1f} h"
    if seconds >= 90:
        return f"about {seconds / 60:.0f} min"
    return f"about {max(10, round(seconds / 10) * 10)} s"


def elapsed(seconds: float) -> str:
    """Return a time that passes, in whole seconds: ``12 s``, ``1 min 05 s``."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def time_of_day(seconds: float) -> str:
    """Return a time since the epoch, in seconds, as the local time of day: ``14:05:07``."""
    return time.strftime("%H:%M:%S", time.localtime(seconds))


def size(count: float) -> str:
    """Return a number of bytes, with up to three significant digits and the unit that fits."""
    units = ("B", "KiB", "MiB", "GiB", "TiB")
    exponent = 0
    while count >= 1024 and exponent < len(units) - 1:
        count /= 1024
        exponent += 1
    digits = 0 if exponent == 0 or count >= 100 else 1 if count >= 10 else 2
    return f"{count:.{digits}f} {units[exponent]}"


def whole_number(value: int) -> str:
    """Return a whole number with separated thousands: ``12,345``."""
    return f"{value:,}"


def quantity(value: float, unit: str = "") -> str:
    """Return a figure with three digits and a prefix: ``1.25 GB``, ``1.6 M images``, ``2.1 G``."""
    between = "" if unit.isupper() else " "
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor * 0.9995:
            return f"{value / factor:.3g} {prefix}{between}{unit}".rstrip()
    return f"{value:.3g} {unit}".rstrip()


def percent(share: float) -> str:
    """Return a part of a whole: ``12 %``; below a percent ``0.4 %``, at least ``< 0.1 %``."""
    value = 100 * share
    if 0 < value < 0.05:
        return "< 0.1 %"
    return f"{value:.1f} %" if 0 < value < 1 else f"{value:.0f} %"


def difference(value: float) -> str:
    """Return how far two results are apart, with two digits: ``0.012``, ``1.2e-07``."""
    if value == 0:
        return "0"
    # Each limit is where two digits round up to the next power of ten.
    for limit, digits in ((0.00995, None), (0.0995, 3), (0.995, 2), (9.95, 1), (99.5, 0)):
        if value < limit:
            return f"{value:.1e}" if digits is None else f"{value:.{digits}f}"
    return f"{value:.1e}"


def _unit(time_us: float) -> tuple[float, str]:
    """Return the factor from µs to the unit that fits, and the unit."""
    if _ZERO_US <= abs(time_us) < 0.1:
        return 1e3, "ns"
    for limit, factor, unit in ((1e3, 1.0, "µs"), (1e6, 1e-3, "ms")):
        # 999.6 µs would round to 1000 µs, so the larger unit starts where rounding reaches it.
        if abs(time_us) < limit * 0.9995:
            return factor, unit
    return 1e-6, "s"


def _three_digits(value: float) -> str:
    if _ZERO_US * 1e3 <= abs(value) < 0.01:
        return f"{value:.2g}"
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"
