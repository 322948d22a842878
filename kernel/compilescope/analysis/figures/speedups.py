"""Compares two variants' times: the only place that turns a pair into a figure and words."""

from __future__ import annotations

import math

from ...report import Speedup, Timing, VariantReport
from ...report.units import duration, duration_range
from .intervals import Ratio, ratio
from .other_load import competing

_WIDE = 2.0
"""An interval whose ends are further apart than this does not show how much faster."""
_CLEAR = 1.25
"""At least this speedup is reported as faster, however wide the interval is."""
_MAX_EQUAL_RATIO = 1.1
"""An interval around 1 that reaches no further than this shows no difference. A wider one is
inconclusive: there may be a relevant difference."""


def speedup(measured: Ratio, over: str) -> Speedup:
    """A ratio and its interval as displayed.

    Parameters
    ----------
    measured
        The ratio of the other's time over this one's.
    over
        The other variant's name.
    """
    low, high = measured.interval
    shown = Speedup(ratio=measured.value, interval=measured.interval, over=over)
    shown.detail = f"{_faster(measured.value)} than {over}"
    wide = low <= 0 or high / low > _WIDE
    if measured.differs is None:
        shown.standing, shown.text = "few", "too few rounds"
        shown.detail = f"{_faster(measured.value)} than {over} so far; too few rounds to tell"
    elif wide and not (low >= _CLEAR or high <= 1 / _CLEAR):
        shown.standing, shown.text = "noisy", "too noisy to judge"
    elif not measured.differs and low >= 1 / _MAX_EQUAL_RATIO and high <= _MAX_EQUAL_RATIO:
        shown.standing, shown.text = "same", "no difference"
    elif not measured.differs:
        shown.standing, shown.text = "noisy", "too noisy to judge"
    elif wide:
        least = low if low > 1 else high
        shown.standing = "faster" if low > 1 else "slower"
        shown.text = f"at least {_faster(least)}"
    else:
        shown.standing = "faster" if measured.value >= 1 else "slower"
        shown.text = _faster(measured.value)
    if low <= 1 <= high and shown.standing == "noisy":
        shown.detail = f"Too noisy to compare with {over}"
    elif low <= 1 <= high and shown.standing != "few":
        shown.detail = f"No significant difference from {over}"
    if shown.standing != "few":
        shown.detail += f"; 99 % interval: {_interval(low, high)}"
    return shown


def over_baseline(timing: Timing) -> Speedup | None:
    """Compares a timing with its baseline's; None without a baseline."""
    if timing.speedup is not None or timing.ratio is None:
        return timing.speedup
    interval = timing.ratio_interval or (timing.ratio, timing.ratio)
    return speedup(Ratio(timing.ratio, interval, timing.differs), timing.baseline)


def between(variant: VariantReport, other: VariantReport) -> Speedup | None:
    """Compares two variants; None if either was not timed, or if their devices differ.

    Over eager it is the figure of its timing. For two others it is the same estimate from their
    shared rounds; without shared rounds, it follows from both ratios to eager.
    """
    mine, others = variant.timing, other.timing
    if mine is None or others is None or mine.device != others.device:
        return None
    if other.requested.backend is None or other.name == mine.baseline:
        return over_baseline(mine)
    start = max(mine.first_round, others.first_round)
    pairs = list(
        zip(
            others.samples_us[start - others.first_round :],
            mine.samples_us[start - mine.first_round :],
            strict=False,
        )
    )
    if mine.turns and mine.turns == others.turns and pairs:
        disturbed = competing(mine) or competing(others)
        return speedup(ratio(*zip(*pairs, strict=True), disturbed=disturbed), other.name)
    indirect = _by_baseline(mine, others)
    return None if indirect is None else speedup(indirect, other.name)


def round_by_round(measured: Speedup, name: str) -> str:
    """A sentence with the interval of an inconclusive measurement of what ``name`` says.

    The estimate is in it only where the interval excludes that there is no difference.
    """
    if measured.interval is None:
        return f"Round by round, {name} is {_faster(measured.ratio)}."
    low, high = measured.interval
    interval = f"(99 % interval: {_interval(low, high)})"
    if low <= 1 <= high:
        return f"Round by round, either may be faster {interval}."
    return f"Round by round, {name} is {_faster(measured.ratio)} {interval}."


def is_noisy(interval_us: tuple[float, float]) -> bool:
    """Whether a median's interval is too wide for the figure to mean much."""
    low, high = interval_us
    return low <= 0 or high / low > _WIDE


def latency(timing: Timing) -> str:
    """A call's latency as a summary shows it: the median, or the range if that does not mean much.

    ``12.3 µs`` or ``0.44\u20131.02 s``.
    """
    if is_noisy(timing.interval_us):
        return duration_range(*timing.interval_us)
    return duration(timing.median_us)


def _by_baseline(mine: Timing, others: Timing) -> Ratio | None:
    """The ratio from both ratios to eager, with the widest interval that they allow."""
    if mine.ratio is None or others.ratio is None or mine.baseline != others.baseline:
        return None
    low, high = mine.ratio_interval or (mine.ratio, mine.ratio)
    least, most = others.ratio_interval or (others.ratio, others.ratio)
    if least <= 0 or others.ratio <= 0:
        return None
    interval = (low / most, high / least)
    both_judged = mine.differs is not None and others.differs is not None
    differs = not interval[0] <= 1 <= interval[1] if both_judged else None
    return Ratio(mine.ratio / others.ratio, interval, differs)


def _interval(low: float, high: float) -> str:
    return f"{_faster(low)} to {_faster(high)}"


def _faster(value: float) -> str:
    """How many times faster; below 1, how many times slower."""
    word = "faster" if value >= 1 else "slower"
    times = value if value >= 1 else (1 / value if value > 0 else math.inf)
    return f"{times:.2f}\u00d7 {word}" if times < 9.995 else f"{times:.0f}\u00d7 {word}"
