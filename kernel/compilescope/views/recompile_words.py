"""Failed guards, advice and deviations in words, the same in every view."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..report import STACK_VALUE, Effective, Failure, Recompile, Report, VariantReport
from .wrapper_pairs import compared

_SCOPE = re.compile(r"[LG]\['(\w+)'\]")
_ON_STACK = re.compile(r"^L\['___stack\d+'\]$")
_WHAT = {
    "rank": "the number of dimensions of {}",
    "dtype": "the dtype of {}",
    "device": "the device of {}",
    "dispatch_keys": "the dispatch keys of {}",
    "requires_grad": "requires_grad of {}",
    "type": "the type of {}",
    "identity": "the object {}",
    "length": "the length of {}",
    "keys": "the keys of {}",
    "attribute": "an attribute of {}",
    "global": "the global {}",
    "grad_mode": "the grad mode",
    "global_state": "a setting of torch's",
}
_ADVICE = 3


def failure(failed: Failure) -> str:
    """Return a failed guard in words: ``size 0 of x was 4 and is 5``."""
    source = _SCOPE.sub(r"\1", _ON_STACK.sub(STACK_VALUE, failed.source))
    if failed.kind in ("size", "stride") and failed.dimension is not None:
        what = f"{failed.kind} {failed.dimension} of {source}"
    else:
        what = _WHAT.get(failed.kind, "{}").format(source)
    if failed.kind == "other" or not failed.old:
        return failed.guard
    return f"{what} was {failed.old}" + (f" and is {failed.new}" if failed.new else "")


def reasons(recompile: Recompile) -> list[str]:
    """Return why a frame was compiled again, a line for each guard that failed.

    The newest compilation's come first; older ones follow only if they differ.
    """
    if not recompile.failures:
        return recompile.reasons
    failures = [
        (failure(guard_failure), guard_failure.compilation) for guard_failure in recompile.failures
    ]
    seen: dict[str, str] = {}
    for text, compilation in failures:
        seen.setdefault(text, compilation)
    return [f"{text}  ({compilation})" for text, compilation in seen.items()]


def advice(recompile: Recompile) -> Iterator[tuple[str, str]]:
    """Yield what to change, and the code for it."""
    for suggestion in recompile.advice[:_ADVICE]:
        yield suggestion.what, suggestion.code


def near_the_limit(recompile: Recompile) -> str:
    """Return how often a frame was compiled, if that is near the limit; otherwise nothing."""
    count, limit = recompile.count, recompile.limit
    if count is None or limit is None or 2 * count <= limit:
        return ""
    return f"compiled {count} times; from {limit} on torch runs it in eager"


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
