"""What was estimated for a target, in words: for the panel, a cell and a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from ...report import TargetReport, VariantReport
from ...report.units import duration, quantity
from ..figures.wording import count


def nothing_ran(target: TargetReport) -> str:
    """Return the sentence above all figures of a target."""
    note = "It is this machine's own, but nothing ran on it. " if target.is_here else ""
    return (
        f"{note}The code is what torch generates for this device. Nothing ran there: times are "
        "estimates."
    )


def call_words(target: TargetReport) -> str:
    """Return the estimated time of a call, a lower bound; ``no estimate`` if there is none."""
    estimate = target.estimate
    if estimate is None or estimate.call_us is None:
        return "no estimate"
    return f"≥ {duration(estimate.call_us)}"


def estimated(target: TargetReport, *, repeats: bool = False) -> str:
    """Return the estimated time of a call and what limits it, in a few words.

    Parameters
    ----------
    repeats
        Whether a call runs graphs several times, which the estimate does not count.
    """
    words = _limited(target, "for one run of each graph" if repeats else "a call")
    estimate = target.estimate
    if estimate is None or estimate.call_us is None or not estimate.unknown:
        return words
    launches = count(estimate.launches, "launch", "launches")
    return f"{words}, {estimate.unknown} of {launches} not counted"


def _limited(target: TargetReport, of: str = "a call") -> str:
    estimate = target.estimate
    if estimate is None or estimate.call_us is None:
        return call_words(target)
    # Kernels that take less than their launches add nothing to a call.
    by = "launches" if estimate.launch_us >= estimate.kernels_us else "kernels"
    # Those that are not counted may take longer than the launches.
    is_known = by == "kernels" or not estimate.unknown
    return f"{call_words(target)} {of}" + (f", limited by {by}" if is_known else "")


def estimate_lines(variant: VariantReport) -> Iterator[str]:
    """Yield the estimate, its method, and the bounding resource."""
    target = variant.target
    estimate = target.estimate if target is not None else None
    if target is None or estimate is None:
        return
    work = [count(estimate.launches, "launch", "launches")]
    work.append(quantity(estimate.bytes, "B"))
    work.append(quantity(estimate.operations, "operations"))
    missing = f", {estimate.unknown} not counted" if estimate.unknown else ""
    if estimate.launches:
        yield f"{_limited(target)} ({', '.join(work)}{missing})"
    if variant.verdict is not None and variant.verdict.estimated:
        yield variant.verdict.evidence
    if estimate.how:
        yield " ".join(filter(None, [estimate.how, estimate.figures, estimate.overhead]))
