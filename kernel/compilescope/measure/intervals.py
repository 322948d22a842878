"""Medians and how sure they are, without a distribution assumed."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence

_CONFIDENCE = 0.95
_TAILS = 40
"""How many tails make the whole, each of them half of what the confidence leaves."""
_RESAMPLES = 500


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median, from order statistics.

    Each sample lies below the true median with probability one half, so the number of those that do
    is binomial. Fewer than six samples cannot reach 95 %: theirs is all that was seen.

    Parameters
    ----------
    samples
        At least one, in any order and unit.

    Returns
    -------
    tuple[float, float]
        Two of the samples.
    """
    ordered = sorted(samples)
    count = len(ordered)
    below, rank = 1, 0
    # In whole numbers: from 1,024 samples on, 2**count is no float.
    while _TAILS * below <= 2**count:
        rank += 1
        below += math.comb(count, rank)
    low = max(rank - 1, 0)
    return ordered[low], ordered[count - 1 - low]


def ratio_interval(above: Sequence[float], below: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of ``median(above) / median(below)``, by a paired bootstrap.

    Samples at the same place were taken in the same round, under the same load, and are drawn
    together. The draws are the same every time.

    Parameters
    ----------
    above, below
        Samples in the same unit, round by round; what one has more is left out.

    Returns
    -------
    tuple[float, float]
        For one pair, twice its ratio.
    """
    pairs = list(zip(above, below, strict=False))
    draw = random.Random(0)
    ratios = []
    for _ in range(_RESAMPLES if len(pairs) > 1 else 1):
        drawn = draw.choices(pairs, k=len(pairs))
        ratios.append(
            statistics.median(a for a, _ in drawn) / statistics.median(b for _, b in drawn)
        )
    ratios.sort()
    edge = int(len(ratios) * (1 - _CONFIDENCE) / 2)
    return ratios[edge], ratios[-1 - edge]
