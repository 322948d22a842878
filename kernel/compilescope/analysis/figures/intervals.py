"""Medians and ratios with confidence intervals, without assuming a distribution.

Consecutive samples are correlated: a machine is slow for a while, then fast again. Treated as
independent, they would give intervals that are too narrow, the more so the longer a measurement
runs. So the rounds are divided into blocks, 16 or a few more, and a block counts once. The blocks'
length doubles as rounds are added, so that it eventually exceeds any disturbance and the interval
does not jump with every round.

Median
    Order statistics of the blocks' medians, 95 %, widened by the remaining correlation of
    neighboring blocks.
Ratio
    Of two calls timed in the same rounds, hence under the same load: the mean of the middle half of
    a block's log ratios, and over the blocks Wilcoxon's signed ranks (the median of all means of
    two blocks), 99 %, widened likewise. If the calls are the same, log ratios are distributed
    symmetrically around 0, which is all that Wilcoxon's test requires. 99 %, since users look
    repeatedly at a running measurement. Rounds cancel a load only if it slows both calls alike.
    That of other processes does not: two threads wait for each other, one does not. If others used
    processors that the calls needed, and the fastest samples give another ratio, the interval
    includes that one, too.

The method uses no random numbers: the same samples give the same interval. 5,000 samples take a few
milliseconds.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

from ...report import Timing

_MIN_BLOCKS = 16
_TAILS = 40
"""The inverse of one tail's probability at 95 % confidence."""
_RATIO_TAILS = 200
"""The same for 99 %."""
_FASTEST = 0.1
"""The quantile of samples that a load hardly disturbed, if it comes and goes."""
_MAX_UNEVEN = 1.1
"""The ratio of those samples may differ from that of all by this factor: the distributions of two
calls' times never have quite the same shape."""
MIN_ROUNDS = 8
"""Fewer rounds give no interval of a ratio."""


class Ratio(NamedTuple):
    """The ratio of two calls' times."""

    value: float
    interval: tuple[float, float]
    differs: bool | None
    """Whether the interval excludes 1. None: there are too few rounds for any confidence."""


def known_interval(timing: Timing | None) -> tuple[float, float] | None:
    """The 95 % interval of a timing's median; None if there is none."""
    return None if timing is None or timing.few else timing.interval_us


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median, from order statistics of blocks.

    Parameters
    ----------
    samples
        At least one, in the order in which they were taken, in any unit.

    Returns
    -------
    tuple[float, float]
        It contains the median of the samples. Fewer than six samples cannot reach 95 %: their
        interval is the whole range.
    """
    medians = [statistics.median(block) for block in _blocks(samples)]
    low, high = order_statistics(medians)
    median = statistics.median(samples)
    widening = _widening(medians)
    # Widened, but not beyond the observed range, such as to a time below 0.
    return (
        max(median - widening * max(median - low, 0.0), min(samples)),
        min(median + widening * max(high - median, 0.0), max(samples)),
    )


def order_statistics(samples: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median of independent samples: two of them.

    Each sample is below the true median with probability one half, so the number of such samples is
    binomial.
    """
    ordered = sorted(samples)
    count = len(ordered)
    below, rank = 1, 0
    # In integers: from 1,024 samples on, 2**count does not fit a float.
    while _TAILS * below <= 2**count:
        rank += 1
        below += math.comb(count, rank)
    low = max(rank - 1, 0)
    return ordered[low], ordered[count - 1 - low]


def ratio(above: Sequence[float], below: Sequence[float], *, disturbed: bool = False) -> Ratio:
    """The ratio of the times of ``above`` and ``below``, with its 99 % interval.

    Parameters
    ----------
    above, below
        Positive samples in the same unit, round by round in order; the same number of both, at
        least one.
    disturbed
        Whether other processes used processors that the calls needed. The interval then includes
        the ratio of the fastest samples, if that is another one.

    Returns
    -------
    Ratio
        With fewer than eight rounds its interval is the whole range, and it does not say whether
        they differ.
    """
    logs = [math.log(a / b) for a, b in zip(above, below, strict=True)]
    centers = [_middle_mean(block) for block in _blocks(logs)]
    count = len(centers)
    means = sorted(
        (figure + other) / 2 for place, figure in enumerate(centers) for other in centers[place:]
    )
    value = statistics.median(means)
    edge = _wilcoxon_edge(count)
    has_interval = edge is not None
    widening = _widening(centers) if has_interval else 1.0
    low = value - widening * (value - means[edge or 0])
    high = value + widening * (means[-1 - (edge or 0)] - value)
    if disturbed and has_interval:
        fastest = math.log(_fastest(above) / _fastest(below))
        if abs(fastest - value) > math.log(_MAX_UNEVEN):
            low, high = min(low, fastest), max(high, fastest)
    return Ratio(
        math.exp(value),
        (math.exp(low), math.exp(high)),
        not low <= 0.0 <= high if has_interval else None,
    )


def _fastest(samples: Sequence[float]) -> float:
    return sorted(samples)[int(_FASTEST * len(samples))]


def _blocks(values: Sequence[float]) -> list[Sequence[float]]:
    """The values in blocks of equal length, without an incomplete block at the end.

    The length is odd, since the mean of two middle values would not have the median of their
    distribution.
    """
    length = 1
    while len(values) >= _MIN_BLOCKS * (2 * length + 1):
        length = 2 * length + 1
    starts = range(0, len(values) - length + 1, length)
    return [values[start : start + length] for start in starts]


def _middle_mean(values: Sequence[float]) -> float:
    """The mean of the middle half.

    It is more stable than a median if times alternate between two levels, as when the position in
    the round matters, and as robust against outliers.
    """
    cut = len(values) // 4
    return statistics.fmean(sorted(values)[cut : len(values) - cut])


def _widening(centers: Sequence[float]) -> float:
    """The factor by which to widen an interval for correlated neighboring blocks."""
    middle = statistics.median(centers)
    off = [center - middle for center in centers]
    spread = sum(figure * figure for figure in off)
    if not spread:
        return 1.0
    alike = sum(figure * other for figure, other in itertools.pairwise(off)) / spread
    alike = min(max(alike, 0.0), 0.8)
    return math.sqrt((1 + alike) / (1 - alike))


@functools.cache
def _wilcoxon_edge(count: int) -> int | None:
    """How many of the smallest (and largest) pairwise means are outside; None if none can be."""
    # ways[s]: how many of the equally likely choices of signs have positive ranks that add up to s.
    ways = [1]
    for rank in range(1, count + 1):
        longer = ways + [0] * rank
        for total, number in enumerate(ways):
            longer[total + rank] += number
        ways = longer
    below, edge = 0, 0
    while _RATIO_TAILS * (below + ways[edge]) <= 2**count:
        below += ways[edge]
        edge += 1
    return edge - 1 if edge else None
