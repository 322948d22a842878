"""Compiles variants a second time, with the caches that the first compilations filled."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

from ..analysis.assemble import assemble_times
from ..analysis.phases.compile_time import add_warm_phases, split
from ..capture.live import recording
from ..capture.records import Record
from ..capture.renumber import renumber
from ..isolation.code_swap import CodeCopies, CodeSet
from ..isolation.muted_output import quiet
from ..isolation.own_backward import Backward
from ..isolation.user_state import Snapshot
from ..progress.progress import Monitor
from ..report import CacheEvent, Compilation, VariantReport
from ..report.problem import Problem
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import compile_callable, given_by
from ..torch_api.dynamo.process_state import begin
from ..torch_api.failures import failures
from ..torch_api.process import caches
from ..torch_api.process.devices import settle
from ..torch_api.trace.spans import timed
from .built_variants import BuiltVariants
from .comparison.call_result import outcome_of
from .comparison.rank_agreement import ALONE, RankAgreement
from .subject_error import CALL_ERRORS

LAST = "This is measured last, after the first timings."
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


class _Build(NamedTuple):
    """A build that is to be repeated."""

    name: str
    variant: Variant
    code_set: CodeSet
    folder: Path


class WarmRebuilds:
    """The builds of a run that are repeated with warm caches, after their first timings.

    As a context manager, it keeps the caches in the block, and removes them afterwards. Libraries
    that were loaded from them stay usable.

    Parameters
    ----------
    builds
        Where the first builds are kept; the caller has opened them.
    snapshot
        The state that each build starts from, and that is restored afterwards.
    agreement
        The ranks that build the same variants.
    """

    def __init__(
        self,
        builds: BuiltVariants,
        snapshot: Snapshot,
        monitor: Monitor,
        agreement: RankAgreement = ALONE,
    ) -> None:
        self._builds, self._snapshot = builds, snapshot
        self._monitor, self._agreement = monitor, agreement
        self._waiting: list[_Build] = []

    def __enter__(self) -> WarmRebuilds:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None
    ) -> None:
        for build in self._waiting:
            shutil.rmtree(build.folder, ignore_errors=True)

    def add(self, name: str, variant: Variant, code_set: CodeSet, folder: Path) -> None:
        """Takes over the folder with the caches of a build."""
        self._waiting.append(_Build(name, variant, code_set, folder))

    def results(self) -> Iterator[tuple[str, Rebuilt]]:
        """Repeats the builds, and yields each by the variant's name."""
        builds = self._builds
        total = len(self._waiting)
        for index, build in enumerate(self._waiting):
            self._monitor.step(
                "compiling again, with warm caches",
                variant=build.name,
                fraction=(total + (1 + index / total) / 2) / (total + 1),
            )
            builds.resume(build.name)
            try:
                rebuilt = rebuild(
                    builds.fn,
                    builds.args,
                    builds.kwargs,
                    variant=build.variant,
                    code_copies=builds.code_copies,
                    code_set=builds.code_copies.copy(),
                    folder=build.folder,
                    backward=self._snapshot.backward,
                )
            except OSError as error:
                if self._agreement is not ALONE:  # other ranks may make a call that this one skips
                    raise
                rebuilt = Rebuilt(problem=failures.explain(error))
            finally:
                builds.code_copies.install(build.code_set)
                self._snapshot.restore()
            yield build.name, rebuilt
            self._agreement.all(rebuilt.problem is None)


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
    report.absent.pop("warm_compile_time", None)
    if warm.problem is not None:
        report.absent["warm_compile_time"] = FAILED.format(warm.problem.what)
        return
    warm_by_id = {compilation.id: compilation for compilation in warm.compilations}
    for compilation in report.compilations:
        same = warm_by_id.get(compilation.id)
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
