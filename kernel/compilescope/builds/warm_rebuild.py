"""Compiles a variant a second time, with the caches that the first compilation filled."""

from __future__ import annotations

from ..analysis.phases.compile_time import split
from ..report import CacheEvent, VariantReport
from .build import Built

FAILED = "Compiling again with warm caches failed: {}"
NOT_CACHED = (
    "torch did not cache this compilation, so a new process pays for it again. {cache}: {reason}"
)
NO_REASON = "it gave no reason."


def add_warm(report: VariantReport, warm: Built) -> None:
    """Adds to a variant's report the time and the cache outcomes of its second compilation.

    Parameters
    ----------
    report
        Of the variant's first build; changed in place.
    warm
        The same variant built again, as in a new process: what this process had loaded was set
        aside. What a process pays once whatever it compiles is in neither time: starting Python,
        importing torch, hashing torch's own files.
    """
    if warm.problem is not None:
        report.absent["warm_compile_time"] = FAILED.format(warm.problem.what)
        return
    report.warm_compile_time = split(warm.compilations, warm.first_call_s, cold=False)
    again = {compilation.id: compilation for compilation in warm.compilations}
    for compilation in report.compilations:
        same = again.get(compilation.id)
        if same is None:
            compilation.absent["warm_phases"] = "torch did not compile this frame again."
            continue
        compilation.warm_phases, compilation.warm_cache = same.phases, same.cache
        bypass = next(
            (cache_event for cache_event in same.cache if cache_event.outcome == "bypass"), None
        )
        if bypass is not None:
            compilation.absent["warm_cache"] = _why(bypass)
        elif not same.cache:
            compilation.absent["warm_cache"] = same.absent.get("cache", "")


def _why(bypass: CacheEvent) -> str:
    return NOT_CACHED.format(cache=bypass.cache, reason=bypass.detail or NO_REASON)
