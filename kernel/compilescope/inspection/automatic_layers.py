"""Plans the automatic breakdown of a call's time, which runs if it takes only seconds."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from ..analysis.figures.counts import always_recompiles
from ..analysis.overview.cpp_wrapper_gain import matches_timing
from ..analysis.overview.variants import current
from ..measure.layers import SECONDS
from ..report import Report
from ..studies.layers.layers import ALWAYS_RECOMPILES, builds_of, call_s

BREAKDOWN = ("layers",)
AFFORDABLE_S = 15.0
"""A breakdown that is estimated to take longer is made on request only. The estimate is based on
the variant's build and calls."""
_CALLS, _CALLS_AGAIN = 7, 110
"""How many calls the breakdown of an existing build takes at least (to warm up, to record, to time
it whole and its wrapper), and about how many that of a new one does, which is profiled too."""
TOO_LONG = (
    "Breaking down the time takes about {seconds:.0f} s: the variant is built again, and called "
    "about {calls} times. It runs only when you ask for it."
)


class Breakdown(NamedTuple):
    """How a call's time is broken down."""

    variant: str
    existing: bool
    """Whether the timed build is called, which cannot separate all layers. Otherwise the variant is
    built again, with timers that separate kernels from their launches."""


def plan_breakdown(
    report: Report, names: Container[str], changed: Callable[[str], None]
) -> Breakdown | None:
    """The breakdown of the overview's variant, if it is built and the breakdown is quick.

    An existing breakdown is repeated if its calls had another latency. A variant whose breakdown
    would take too long says so instead.

    Parameters
    ----------
    names
        The variants that were just built.
    changed
        Called with the variant that now says why it was not broken down.
    """
    variant = current(report)
    if variant is None or variant.name not in names or variant.stage != "built":
        return None
    if variant.layers and matches_timing(variant):
        return None
    if always_recompiles(variant):
        variant.absent["layers"] = ALWAYS_RECOMPILES
        changed(variant.name)
        return None
    if not variant.requested.uses_inductor or variant.compile_time is None:
        return None
    build_s = builds_of(variant.requested) * variant.compile_time.total_s
    takes_s = build_s + max(_CALLS_AGAIN * call_s(variant), SECONDS)
    if takes_s <= AFFORDABLE_S:
        return Breakdown(variant.name, existing=False)
    if _CALLS * call_s(variant) <= AFFORDABLE_S:
        return Breakdown(variant.name, existing=True)
    variant.absent["layers"] = TOO_LONG.format(seconds=takes_s, calls=_CALLS_AGAIN)
    changed(variant.name)
    return None
