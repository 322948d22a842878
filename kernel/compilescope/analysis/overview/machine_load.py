"""Puts into words that other processes competed with a measurement for the processors."""

from __future__ import annotations

from ...report import VariantReport
from ..figures.other_load import competing


def machine_load(shown: list[VariantReport]) -> str:
    """Return a sentence if other processes competed with the measurement; else an empty string.

    Parameters
    ----------
    shown
        The variants of an overview.
    """
    timings = [variant.timing for variant in shown if variant.timing is not None]
    disturbed = [timing for timing in timings if competing(timing)]
    if not disturbed:
        return ""
    worst = max(disturbed, key=lambda timing: timing.other_processors or 0.0)
    return (
        f"Other processes used {worst.other_processors or 0.0:.1f} of {worst.processors} "
        "processors during the measurement: on an idle machine, latencies are lower and speedups "
        "may differ."
    )
