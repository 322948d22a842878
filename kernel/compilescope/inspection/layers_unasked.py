"""Chooses the variant whose time is broken down without a request, if that takes seconds only."""

from __future__ import annotations

from collections.abc import Callable, Container

from ..analysis.overview.variants import current
from ..measure.layers import SECONDS
from ..report import Report

BREAKDOWN = ("layers",)
AFFORDABLE_S = 15.0
"""How long a breakdown may take, by what the variant's build took, to be made unasked."""
TOO_LONG = (
    "Breaking down the time takes about {seconds:.0f} s, because the variant is built again: it "
    "runs only when you ask for it."
)


def variant_to_break_down(
    report: Report, names: Container[str], changed: Callable[[str], None]
) -> str | None:
    """The variant to break down: the one that the overview is about, if it is built and quick.

    A variant that would take too long says so in place of its breakdown.

    Parameters
    ----------
    names
        The variants that were just built.
    changed
        Told the variant that now says why it was not broken down.
    """
    variant = current(report)
    if variant is None or variant.name not in names or variant.stage != "built":
        return None
    if variant.layers or not variant.requested.uses_inductor or variant.compile_time is None:
        return None
    takes_s = variant.compile_time.total_s + SECONDS
    if takes_s > AFFORDABLE_S:
        variant.absent["layers"] = TOO_LONG.format(seconds=takes_s)
        changed(variant.name)
        return None
    return variant.name
