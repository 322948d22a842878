"""Recompiles, advice and deviations, the same in every view."""

from __future__ import annotations

from collections.abc import Iterator

from ..report import Effective, Recompile, Report, VariantReport
from .wrapper_pairs import compared

_ADVICE = 3


def reasons(recompile: Recompile) -> list[str]:
    """Return why a frame was compiled again, a line for each cause, with the guards' compile ids.

    The newest compilation's come first; older ones follow only if they differ.
    """
    return [
        cause.text + (f"  ({', '.join(cause.compilations)})" if cause.compilations else "")
        for cause in recompile.causes
    ]


def advice(recompile: Recompile) -> Iterator[tuple[str, str]]:
    """Yield what to change, and the code for it."""
    for suggestion in recompile.advice[:_ADVICE]:
        yield suggestion.what, suggestion.code


def near_the_limit(recompile: Recompile) -> str:
    """Return how often a frame was compiled, if that is near the limit; otherwise nothing."""
    count, limit = recompile.count, recompile.limit
    is_near = count is not None and limit is not None and 2 * count > limit
    return recompile.limit_text if is_near else ""


def recompile_lines(recompile: Recompile) -> list[str]:
    """Return why a frame was compiled again, and what follows from that, a line each."""
    return [
        *reasons(recompile),
        *(f"dynamic from now on: {symbol}" for symbol in recompile.became_dynamic),
        *filter(None, [near_the_limit(recompile)]),
    ]


def deviations(report: Report) -> list[tuple[VariantReport, Effective]]:
    """Return where torch did something other than a variant requested."""
    return [
        (variant, setting)
        for variant in compared(report)
        for setting in variant.effective
        if setting.differs
    ]
