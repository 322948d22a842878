"""Compiles a variant a second time, with the caches that the first compilation filled."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ..analysis.assemble import assemble_times
from ..analysis.phases.compile_time import add_warm_phases, split
from ..capture.live import recording
from ..capture.records import Record
from ..capture.renumber import renumber
from ..isolation.code_swap import CodeCopies, CodeSet
from ..isolation.muted_output import quiet
from ..isolation.own_backward import Backward
from ..report import CacheEvent, Compilation, VariantReport
from ..report.problem import Problem
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import compile_callable, given_by
from ..torch_api.dynamo.process_state import begin
from ..torch_api.failures import failures
from ..torch_api.process import caches
from ..torch_api.process.devices import settle
from ..torch_api.trace.spans import timed
from .comparison.call_result import outcome_of
from .subject_error import CALL_ERRORS

FAILED = "Compiling again with warm caches failed: {}"
NOT_CACHED = (
    "torch did not cache this compilation, so a new process pays for it again. {cache}: {reason}"
)
NO_REASON = "it gave no reason."


class Rebuilt(msgspec.Struct, kw_only=True):
    """A variant after its first call with warm caches. Only times and cache events are kept."""

    compilations: list[Compilation] = []
    call_s: float = 0.0
    """The call and, for a subject that trains, its backward."""
    problem: Problem | None = None


def rebuild(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    variant: Variant,
    code_copies: CodeCopies,
    code_set: CodeSet,
    folder: Path,
    backward: Backward,
) -> Rebuilt:
    """Compiles a variant by calling it, with the caches in ``folder``; the build is not kept.

    The parameters are those of `build.build`.
    """
    begin()
    code_copies.install(code_set)
    rebuilt = Rebuilt()
    records: list[Record] = []
    with caches.only(folder), recording(records), timed(), quiet():
        start = time.perf_counter()
        try:
            output = compile_callable(fn, **given_by(variant))(*args, **kwargs)
            outcome_of(output, backward)
            settle()
            rebuilt.call_s = time.perf_counter() - start
        except CALL_ERRORS as error:
            rebuilt.problem = failures.under_compile(error)
    rebuilt.compilations = assemble_times(renumber(records))
    return rebuilt


def add_warm(report: VariantReport, warm: Rebuilt) -> None:
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
    again = {compilation.id: compilation for compilation in warm.compilations}
    for compilation in report.compilations:
        same = again.get(compilation.id)
        if same is None:
            compilation.absent["warm_phases"] = "torch did not compile this frame again."
            continue
        add_warm_phases(compilation, same.phases)
        compilation.warm_cache = same.cache
        bypass = next(
            (cache_event for cache_event in same.cache if cache_event.outcome == "bypass"), None
        )
        if bypass is not None:
            compilation.absent["warm_cache"] = _why(bypass)
        elif not same.cache:
            compilation.absent["warm_cache"] = same.absent.get("cache", "")
    # After the waits for Triton, which depend on the compilation's kernels, have their kind.
    report.warm_compile_time = split(warm.compilations, warm.call_s, cold=False)


def _why(bypass: CacheEvent) -> str:
    return NOT_CACHED.format(cache=bypass.cache, reason=bypass.detail or NO_REASON)
