"""A subject under inspection: its captures, and the report, which grows with each variant."""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from ..builds.aot_compiled import (
    call_compiled,
    problems_of,
    requested_of,
)
from ..builds.build_and_time import build_variants
from ..builds.built_variants import BuiltVariants
from ..builds.comparison.rank_agreement import ALONE, RankAgreement
from ..builds.first_compilation import warm_up_compiler
from ..builds.live_measurement import Measurement
from ..builds.measurement_state import MeasurementProgress
from ..builds.warm_rebuild import WarmRebuilds
from ..guards.evaluate_guards import runs
from ..guards.variant_guards import VariantGuards
from ..isolation.code_swap import CodeCopies
from ..isolation.global_state import SavedModes
from ..isolation.muted_output import quiet
from ..isolation.object_walk import walk
from ..isolation.separate_context import in_separate_context
from ..isolation.user_state import Snapshot, preserved
from ..progress.progress import Monitor
from ..report import AS_WRITTEN, Report, SourceLine, Timing, VariantReport
from ..report.errors import CompilescopeError
from ..report.measurements.study_choice import StudyChoice
from ..report.variant import Variant
from ..report.what_if import WhatIf
from ..studies.context import HERE, StudyProcesses
from ..studies.options import Selected, StudyOption
from ..studies.run import study_variants
from ..studies.table import STUDIES
from ..studies.table import names as study_names
from ..subject import arguments
from ..subject.functions import functions_of
from ..subject.subject import describe, unwrap
from ..subject.typed_arguments import evaluate_arguments
from ..targets.call_packer import CallPacker
from ..torch_api.dynamo.compile_arguments import written
from ..torch_api.inductor import workers
from ..torch_api.process.environment import environment
from ..torch_api.trace.aot_compiled import aot_compiled
from . import report_updates
from .code_generation import CodeGeneration, runs_here
from .first_timings import FirstTimings
from .results import Results
from .variant_sources import VariantSources
from .variants import with_written

_MIN_OBJECTS = 200
"""The least number of objects (about 20 a layer) with which torch's compile workers start early."""


class Inspection:
    """One subject and all results about it.

    Methods that call the subject (`run`, `measure`) belong on the main thread: they restore the
    user's state afterwards, so nothing else may change it meanwhile.

    Parameters
    ----------
    fn, args, kwargs
        The call.
    has_worked
        Whether it has succeeded before, in its cell.

    Raises
    ------
    CompilescopeError
        ``fn`` cannot be called with these arguments.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        cell: str | None = None,
        call: SourceLine | None = None,
        has_worked: bool = False,
    ) -> None:
        subject = describe(fn, args, kwargs)
        subject.cell, subject.call = cell, call
        self.fn = unwrap(fn)
        self.args = tuple(args)
        self.kwargs = dict(kwargs or {})
        self.modes = SavedModes().now()  # torch's modes now, in this thread
        self.report = Report(
            created=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            subject=subject,
            environment=environment(),
        )
        self.results = Results(self.report)
        """Adds to the report."""
        self.requested: Mapping[str, Variant] = {}
        """The variants that the inspection was requested for."""
        self.call_key: tuple[object, ...] | None = None
        """The result of `same_call.call_key`; None if no other call is compared with it."""
        whole = (self.fn, self.args, self.kwargs)
        self.size = len(walk(*whole).objects)
        """How many objects with state the call reaches: modules, parameters, containers."""
        self._call_packer = CallPacker(*whole, self.modes)
        code_copies = CodeCopies(functions_of(*whole))
        self._guards = VariantGuards(self.fn, subject.name, code_copies)
        self._builds = BuiltVariants(*whole, code_copies, subject.device, has_worked=has_worked)
        self._measurement = Measurement(self._builds)
        self._aot_compiled = aot_compiled(fn)
        """What ``aot_compile`` returned, if that was given: the variant `AS_WRITTEN`."""
        self._generation = CodeGeneration(
            *whole, code_copies, self._call_packer, self._aot_compiled, has_worked
        )
        self.sources = VariantSources(self.report, self.results, self._generation, self._guards)
        """Adds the code of variants to the report."""

    def with_written(
        self, fn: Callable[..., Any], requested: Mapping[str, Variant], *, chosen: bool
    ) -> dict[str, Variant]:
        """The requested variants, preceded by the settings of the ``torch.compile`` around ``fn``.

        Parameters
        ----------
        chosen
            Whether the user chose the requested variants.
        """
        if self._aot_compiled is not None:
            self.report.subject.written = AS_WRITTEN
            self.report.problems += problems_of(self._aot_compiled)
            beside = {} if self._aot_compiled.lacking() else requested
            return {AS_WRITTEN: requested_of(self._aot_compiled), **beside}
        name, variants, problems = with_written(requested, written(fn), chosen=chosen)
        self.report.subject.written = name
        self.report.problems += problems
        return variants

    def compile_workers(self, variants: Mapping[str, Variant]) -> AbstractContextManager[None]:
        """Starts torch's compile workers if these variants need them early.

        The code of a C++ wrapper for a GPU depends on what its kernels are compiled to. For a deep
        model, the workers are ready by the time that the code is generated.
        """
        on_gpu = self.report.subject.device.startswith("cuda")
        is_deep = self.size >= _MIN_OBJECTS
        needed = on_gpu and is_deep and self._generation.needs_kernels(variants)
        return workers.awake() if needed else nullcontext()

    def may_build_at_once(self, variants: Mapping[str, Variant]) -> bool:
        """Whether `build_at_once` can build these variants: Inductor generates all their code."""
        return self._generation.is_all_inductors(variants)

    @in_separate_context
    def build_at_once(self, variants: Mapping[str, Variant], monitor: Monitor) -> None:
        """Builds, checks and times variants that the report does not have yet.

        A build shows the same code as generated sources, and torch compiles once instead of twice.
        Where a build lacks some, because it failed or a backward never ran, `sources` adds that.
        """
        monitor.step("loading Inductor")
        warm_up_compiler(self.report.subject.device)
        self.results.expect(list(variants))
        self._run(variants, monitor)
        for name, variant in variants.items():
            built = report_updates.find(self.report, name)
            if built is not None and report_updates.lacks_code(built):
                self.sources.add_to_build(built, variant, monitor)

    @in_separate_context
    def run(self, names: Sequence[str], monitor: Monitor) -> None:
        """Builds, checks and times variants of the report against eager.

        For targets, only the kernels are compiled and checked.

        Variants that are built already are timed interleaved with the new ones, but keep the timing
        of an earlier measurement.

        Parameters
        ----------
        names
            Which; those that are not in the report are left out.
        """
        chosen = [variant for variant in self.report.variants if variant.name in names]
        requested = {
            variant.name: variant.requested for variant in chosen if self._is_callable(variant)
        }
        if requested:
            self._run(requested, monitor)
        for_targets = [variant for variant in chosen if variant.requested.target is not None]
        if for_targets:
            self.study([aim.name for aim in for_targets], study_names(target=True), monitor)

    def _run(self, requested: Mapping[str, Variant], monitor: Monitor) -> None:
        with self._open() as snapshot, WarmRebuilds(self._builds, snapshot, monitor) as rebuilds:
            timings = FirstTimings(
                self.report, self.results, self._builds, requested, snapshot, monitor
            )
            self._build(requested, snapshot, monitor, rebuilds, between=timings.between)
            timings.time_all(self._measurement.timings())
            self._rebuild(rebuilds)

    @in_separate_context
    def build(
        self,
        names: Sequence[str],
        monitor: Monitor,
        time: Callable[[Mapping[str, Callable[[], object]], Callable[[], None]], dict[str, Timing]],
        agreement: RankAgreement,
    ) -> None:
        """Builds and checks variants, and passes their calls to ``time``, which times them.

        Parameters
        ----------
        names
            Which; those that are not in the report are left out.
        time
            Called with the calls by name, eager's first, and a function that restores the subject's
            state.
        agreement
            The ranks that decide together what is called.
        """
        requested = {
            variant.name: variant.requested
            for variant in self.report.variants
            if variant.name in names and self._is_callable(variant)
        }
        with (
            self._open() as snapshot,
            WarmRebuilds(self._builds, snapshot, monitor, agreement) as rebuilds,
        ):
            self._build(requested, snapshot, monitor, rebuilds, agreement)
            ready = [
                name for name, variant in requested.items() if self._builds.find(name, variant)
            ]
            report_updates.note_evicted(self.report, requested, ready)
            calls = self._builds.installing_calls(ready, snapshot)
            monitor.step("timing")
            with quiet():
                timings = time(calls, snapshot.restore)
            self.results.put_timings(timings)
            self._rebuild(rebuilds)

    @in_separate_context
    def measure(
        self,
        names: Sequence[str],
        monitor: Monitor,
        *,
        seconds: float = 10.0,
        restart: bool = False,
        on_news: Callable[[], None] = lambda: None,
    ) -> None:
        """Takes samples of variants interleaved with eager; builds those that are not built.

        Resumes an earlier measurement if its builds are among them. The report has the figures
        afterwards, even after a cancel, an interrupt or an error of the subject.

        Parameters
        ----------
        names
            Which; those that are not in the report are left out.
        seconds
            Of sampling.
        restart
            Starts over even if an earlier measurement could be resumed.
        on_news
            Called when `measurement` has new samples.
        """
        requested = {
            variant.name: variant.requested
            for variant in self.report.variants
            if variant.name in names and runs_here(variant.requested) and self._is_callable(variant)
        }
        measurement = self._measurement
        try:
            with self._open() as snapshot, measurement.under_way(on_news):
                fit = self._builds.fit(requested, snapshot, monitor)
                missing = {name: variant for name, variant in requested.items() if name not in fit}
                if missing:
                    self._build_completely(missing, snapshot, monitor)
                ready = [
                    name for name, variant in requested.items() if self._builds.find(name, variant)
                ]
                report_updates.note_evicted(self.report, requested, ready)
                measurement.measure(ready, snapshot, monitor, seconds=seconds, restart=restart)
        finally:
            report_updates.note_ended(self.report, measurement.progress.problem)
            self.results.put_timings(measurement.timings())

    @in_separate_context
    def study(
        self,
        names: Sequence[str],
        studies: Sequence[str],
        monitor: Monitor,
        *,
        options: Selected | None = None,
        existing: bool = False,
        processes: StudyProcesses = HERE,
    ) -> None:
        """Runs studies of the variants that they apply to; builds variants if a study needs it.

        Parameters
        ----------
        names
            Which; those that are not in the report are left out.
        studies
            Names of `studies.table.STUDIES`, in the order to run them.
        options, existing, processes
            As for `study_variants`.
        """
        requested = {
            variant.name: variant.requested
            for variant in self.report.variants
            if variant.name in names and runs_here(variant.requested)
        }
        stages = {variant.name: variant.stage for variant in self.report.variants}
        missing = {name: variant for name, variant in requested.items() if stages[name] != "built"}
        built = any(STUDIES[study].needs_build for study in studies)
        if missing and built:
            with self._open() as snapshot:
                self._build_completely(missing, snapshot, monitor)
        applicable = [
            variant
            for variant in self.report.variants
            if variant.name in names
            and not self._generation.is_aot_compiled(variant.requested)
            and variant.stage in (("sources",) if variant.requested.target else _READY[built])
        ]
        study_variants(
            self._builds,
            self._call_packer,
            self.report,
            applicable,
            studies,
            monitor,
            self.results.conclude,
            options=options,
            existing=existing,
            processes=processes,
        )

    def choices(self, option: StudyOption, variant: VariantReport) -> list[StudyChoice]:
        """What an option of a study takes for a variant; from any thread."""
        return option.choices(self.fn, self.args, self.kwargs, variant)

    @property
    def measurement(self) -> MeasurementProgress:
        """The state of the measurement; any thread may read it."""
        return self._measurement.progress

    def release(self) -> None:
        """Drops the builds, unless they are in use; they are built again when needed."""
        self._builds.release()
        self._measurement.release()

    def close(self) -> None:
        """Drops the builds once they are no longer in use; from any thread."""
        self._builds.close()

    @contextmanager
    def _open(self) -> Iterator[Snapshot]:
        """Allows calls of the builds in the block; the user's state is restored after it."""
        with preserved(self.fn, self.args, self.kwargs) as snapshot:
            try:
                with self._builds.open():
                    yield snapshot
            finally:
                self._guards.drop_compiled(but=self._builds.needs)
        report_updates.note_unsaved(self.report, snapshot.unsaved)

    def _build(
        self,
        requested: Mapping[str, Variant],
        snapshot: Snapshot,
        monitor: Monitor,
        rebuilds: WarmRebuilds,
        agreement: RankAgreement = ALONE,
        between: Callable[[str], None] = lambda name: None,
    ) -> None:
        precompiled = {}
        if self._aot_compiled is not None:
            precompiled[AS_WRITTEN] = functools.partial(call_compiled, self._aot_compiled)
        keep = self._guards.add
        results = build_variants(
            self._builds,
            requested,
            snapshot,
            monitor,
            rebuilds,
            keep,
            agreement,
            precompiled,
            between,
        )
        for result in results:
            self.results.put_built(result)

    def _rebuild(self, rebuilds: WarmRebuilds) -> None:
        for name, rebuilt in rebuilds.results():
            self.results.put_rebuilt(name, rebuilt)

    def _build_completely(
        self, requested: Mapping[str, Variant], snapshot: Snapshot, monitor: Monitor
    ) -> None:
        with WarmRebuilds(self._builds, snapshot, monitor) as rebuilds:
            self._build(requested, snapshot, monitor, rebuilds)
            self._rebuild(rebuilds)

    def what_if(self, variant: str, text: str, namespace: Mapping[str, Any]) -> WhatIf:
        """Which compilation a call with other arguments would use; runs and compiles nothing.

        Parameters
        ----------
        variant
            Whose guards are evaluated.
        text
            The arguments as typed in a call.
        namespace
            What names in them mean; the subject's own argument names are known besides.

        Raises
        ------
        CompilescopeError
            The arguments cannot be read, evaluated or bound, or the guards were not kept.
        """
        own_arguments = arguments.named(runs(self.fn), self.args, self.kwargs)
        args, kwargs = evaluate_arguments(text, {**own_arguments, **namespace})
        return self.what_if_call(variant, args, kwargs)

    def what_if_call(self, variant: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> WhatIf:
        """As `what_if`, for objects; torch's modes count as they were at the inspection."""
        if self._generation.is_aot_compiled(self.report.variant(variant).requested):
            raise CompilescopeError(
                f"{variant!r} does not compile another call.",
                "What aot_compile returned raises an error if its guards fail.",
                "Ask about another variant, or inspect it with that call's arguments.",
            )
        variant_report = self.report.variant(variant)
        if not self._guards.has(variant):
            answer = self._generation.what_if_elsewhere(
                self.report.subject.name, variant_report, args, kwargs
            )
            if answer is not None:
                return answer
        return self._guards.what_if(variant_report, args, kwargs)

    def has_guards(self, variant: str) -> bool:
        """Whether `what_if` can answer for a variant."""
        return self._guards.has(variant)

    def _is_callable(self, variant: VariantReport) -> bool:
        """Whether a variant can be called and compared with eager on this machine."""
        if variant.requested.target is not None:
            return False
        compiled = self._aot_compiled
        is_given = self._generation.is_aot_compiled(variant.requested)
        return not (is_given and compiled and compiled.lacking())


_READY = {True: ("built",), False: ("sources", "built")}
"""Whether a study needs a build → the stages of variants that it applies to."""
