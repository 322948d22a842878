"""Whether the variants that the Overview compares were warmed up before they were sampled."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import VariantReport
from .variants import title, with_article


def unsettled(shown: Sequence[VariantReport]) -> str:
    """Return a sentence if a warm-up ended while times still changed; else an empty string.

    Parameters
    ----------
    shown
        The variants of an overview.
    """
    names = [
        with_article(title(variant))
        for variant in shown
        if variant.timing is not None and not variant.timing.settled
    ]
    if not names:
        return ""
    whose = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    return (
        f"Latencies of {whose} had not settled when the warm-up ran out of time: latencies and "
        "speedups may change in a longer measurement."
    )
