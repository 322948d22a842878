"""Builds variants, checks them against eager and times them side by side."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from ..analysis.phases.compile_time import split
from ..analysis.problems.retained_backwards import overwriting
from ..guards.kept_guards import EvaluableGuards
from ..guards.reported_costs import add_guard_costs
from ..isolation.muted_output import quiet
from ..isolation.thread_switching import undisturbed
from ..isolation.user_state import Snapshot
from ..measure.timing import MAX_SLOW_CALLS_S, time_calls
from ..progress.progress import Monitor
from ..report import Timing, VariantReport
from ..report.measurements.accuracy import NO_TENSORS, NOTHING_TO_COMPARE
from ..report.problem import Problem, fault
from ..report.variant import Variant
from ..torch_api.dynamo.compile_variant import differing_settings, settings_of
from ..torch_api.failures import failures
from ..torch_api.inductor import workers
from ..torch_api.inductor.cuda_graphs import Counts, counting
from ..torch_api.process import caches
from .aot_compiled import COMPILED_BEFORE
from .build import Built, build
from .built_variants import COMPILES_NOTHING, EAGER, BuiltVariants
from .comparison.call_result import outcome_of, with_changes
from .comparison.compare_with_eager import Reference, mismatch
from .comparison.rank_agreement import ALONE, RankAgreement
from .comparison.repeatable_state import State
from .compile_warnings import consumed_generator, remarks
from .cuda_graph_counts import MORE_CALLS, count, may_record
from .eager_call import partly_compiled
from .kernel_first_runs import add_first_runs
from .subject_error import CALL_ERRORS, SubjectError
from .warm_rebuild import LAST, WarmRebuilds

SECONDS_PER_VARIANT = 0.4
"""How long a variant is timed for the cell's first result. A longer measurement may follow."""
_PROVISIONAL_SECONDS_PER_VARIANT = 0.1
"""The same for a timing that is replaced once the other variants are built."""

CompiledCalls = Mapping[str, Callable[..., Built]]
"""Name of a variant that is compiled already → how to call it."""
_NONE: CompiledCalls = MappingProxyType({})


def build_variants(
    builds: BuiltVariants,
    variants: Mapping[str, Variant],
    snapshot: Snapshot,
    monitor: Monitor,
    rebuilds: WarmRebuilds,
    keep: Callable[[str, EvaluableGuards], None] = lambda name, evaluable_guards: None,
    agreement: RankAgreement = ALONE,
    precompiled: CompiledCalls = _NONE,
    between: Callable[[str], None] = lambda name: None,
) -> Iterator[VariantReport]:
    """Builds and checks variants; yields the report of each as it grows.

    Parameters
    ----------
    builds
        Keeps the builds; the caller has opened them.
    variants
        Name → the variant.
    snapshot
        The state from which every variant starts; it belongs to the caller.
    monitor
        Reports each step, and cancels.
    rebuilds
        Repeats the builds with warm caches.
    keep
        Called with a variant's name and its guards, for checks afterwards.
    agreement
        The ranks that agree on each call, so that all call the subject equally often.
    precompiled
        Variants that are compiled already: they are called, not built.
    between
        Called with the name of each variant that was built, before the next one.
    """
    monitor.step("running eager", variant="eager", fraction=0.0)
    if builds.device.startswith("cuda") and not precompiled:
        workers.wake()
    try:
        reference = Reference(builds.fn, builds.args, builds.kwargs, snapshot, agreement)
    except Exception as error:  # noqa: BLE001 - it is every variant's problem
        problem = (
            failures.subject_failure(error.error, has_worked=builds.has_worked)
            if isinstance(error, SubjectError)
            else fault(error)
        )
        for name, variant in variants.items():
            yield _failed(name, variant, problem)
        agreement.all(False)
        return
    if not agreement.all(True):
        for name, variant in variants.items():
            yield _failed(name, variant, EAGER_FAILED_ELSEWHERE)
        return
    random = agreement.any(reference.random)

    for index, (name, variant) in enumerate(variants.items()):
        if variant.backend is None:
            yield VariantReport(
                name=name,
                requested=variant,
                stage="built",
                absent={"compilations": COMPILES_NOTHING},
            )
            continue
        done = index / (len(variants) + 1)
        if name in precompiled:
            monitor.step("running", variant=name, fraction=done)
            yield _called(name, variant, precompiled[name], builds, snapshot, reference, agreement)
            continue
        monitor.step("building", variant=name, fraction=done)
        try:
            folder = caches.new_folder()
        except OSError as error:
            yield _failed(name, variant, failures.explain(error))
            agreement.all(False)
            continue
        builds.begin(name)
        is_temporary = True
        try:
            # Agreed on before the call, which a rank without a folder does not make.
            if not agreement.all(True):
                yield _failed(name, variant, NO_FOLDER_ELSEWHERE)
                continue
            code_set = builds.code_set()
            counts = Counts()
            with counting(counts):
                built = build(
                    builds.fn,
                    builds.args,
                    builds.kwargs,
                    name=name,
                    variant=variant,
                    code_copies=builds.code_copies,
                    code_set=code_set,
                    folder=folder,
                    backward=snapshot.backward,
                    on_step=functools.partial(monitor.step_unchecked, variant=name, fraction=done),
                )
            if built.outcome is not None:
                built.outcome = with_changes(built.outcome, snapshot)
            snapshot.restore()
            if built.evaluable_guards is not None:
                add_guard_costs(built.compilations, built.evaluable_guards.guards)
                keep(name, built.evaluable_guards)
            report = _report(built, variant, builds, snapshot)
            if built.problem is not None:
                monitor.check()
                yield report
            if not agreement.all(built.problem is None):
                if built.problem is None:
                    report.absent["accuracy"] = report.absent["timing"] = FAILED_ELSEWHERE
                    yield report
                continue
            _compare(report, built, reference, random=random)
            _count_graphs(report, built, builds, snapshot, counts, agreement)
            builds.add(built, variant)
            add_first_runs(
                report,
                built,
                functools.partial(built.call, *builds.args, **builds.kwargs),
                snapshot=snapshot,
                folder=folder,
                agreement=agreement,
            )
            if variant.uses_inductor:
                report.absent["warm_compile_time"] = LAST
                rebuilds.add(name, variant, code_set, folder)
                is_temporary = False
            yield report
        except OSError as error:
            yield _failed(name, variant, failures.explain(error))
            if agreement is not ALONE:  # other ranks may make a call that this one skips
                raise
        finally:
            snapshot.restore()
            if is_temporary:  # libraries loaded from it stay usable
                shutil.rmtree(folder, ignore_errors=True)
        if index + 1 < len(variants):
            between(name)


def _called(
    name: str,
    variant: Variant,
    call: Callable[..., Built],
    builds: BuiltVariants,
    snapshot: Snapshot,
    reference: Reference,
    agreement: RankAgreement,
) -> VariantReport:
    """A variant that was compiled before: called, compared and kept."""
    builds.begin(name)
    try:
        built = call(
            builds.args,
            builds.kwargs,
            name=name,
            code_set=builds.code_set(),
            backward=snapshot.backward,
        )
        if built.outcome is not None:
            built.outcome = with_changes(built.outcome, snapshot)
    finally:
        snapshot.restore()
    report = _report(built, variant, builds, snapshot)
    report.compile_time = None
    report.absent["compile_time"] = COMPILED_BEFORE
    if agreement.all(built.problem is None):
        if agreement.any(reference.random):
            report.absent["accuracy"] = MAYBE_RANDOM
        else:
            _compare(report, built, reference, random=False)
        builds.add(built, variant)
    elif built.problem is None:
        report.absent["accuracy"] = report.absent["timing"] = FAILED_ELSEWHERE
    return report


def _count_graphs(
    report: VariantReport,
    built: Built,
    builds: BuiltVariants,
    snapshot: Snapshot,
    counts: Counts,
    agreement: RankAgreement,
) -> None:
    """Counts the captures and replays of a build's CUDA graphs, if it has any."""
    cuda_graphs = report.cuda_graphs
    may = cuda_graphs is not None and may_record(cuda_graphs)
    if not agreement.any(may):
        return

    def call() -> None:
        outcome_of(built.call(*builds.args, **builds.kwargs), snapshot.backward)

    able = True
    try:
        with counting(counts), quiet():
            if cuda_graphs is not None and may:
                count(cuda_graphs, report, counts, call, snapshot.restore)
            else:  # as often as the ranks that have some
                for _ in range(MORE_CALLS):
                    call()
                    snapshot.restore()
    except CALL_ERRORS as error:
        able = False
        report.problems.append(failures.under_compile(error))
        snapshot.restore()
    agreement.all(able)


def time_variants(
    builds: BuiltVariants,
    names: Sequence[str],
    snapshot: Snapshot,
    monitor: Monitor,
    *,
    fraction: float | None = None,
    is_provisional: bool = False,
) -> dict[str, Timing]:
    """Times builds interleaved with eager.

    If a call changes the subject's state, it is restored before every batch.

    Parameters
    ----------
    names
        Of builds that are kept; the caller has ``builds`` open.
    fraction
        How much of the whole work is done; by default all but this.
    is_provisional
        Whether a longer timing follows: this one is then short, and slow calls get no extra time.

    Returns
    -------
    dict[str, Timing]
        By name; also of ``"eager"``.
    """
    calls = builds.calls(names, snapshot)
    fraction = len(names) / (len(names) + 1) if fraction is None else fraction
    monitor.step("timing", fraction=fraction)
    state = State(builds, list(names), snapshot, monitor)
    seconds = _PROVISIONAL_SECONDS_PER_VARIANT if is_provisional else SECONDS_PER_VARIANT
    with undisturbed(), quiet():
        timings = time_calls(
            calls,
            budget_s=seconds * len(calls),
            longest_s=None if is_provisional else MAX_SLOW_CALLS_S,
            before_each=state.before_each,
            device=state.device,
            cancelled=lambda: monitor.cancelled,
        )
    monitor.check()
    for name, timing in timings.items():
        timing.initial_state, timing.changes = state.initial_state, list(state.changes)
        if name != EAGER:
            state.recompiling[name].add_to(timing)
    return timings


def _report(
    built: Built, variant: Variant, builds: BuiltVariants, snapshot: Snapshot
) -> VariantReport:
    report = VariantReport(
        name=built.name,
        requested=variant,
        stage="built",
        config=differing_settings(settings_of(variant)) if variant.uses_inductor else {},
        effective=built.effective,
        cuda_graphs=built.cuda_graphs,
        compilations=built.compilations,
        has_backward=built.outcome is not None and built.outcome.has_backward,
    )
    if built.problem is not None:
        report.stage = "failed"
        report.problems.append(built.problem)
    report.problems += built.unanalyzed
    if built.problem is not None:
        return report
    report.compile_time = split(built.compilations, built.first_call_s)
    report.problems += overwriting(built.compilations, built.retained)
    report.problems += remarks(built.compilations, builds.fn, built.off, built.suppressed)
    report.problems += partly_compiled(snapshot)
    return report


def _compare(report: VariantReport, built: Built, reference: Reference, *, random: bool) -> None:
    """Adds the errors of the variant's results against eager's, if they can be compared."""
    if random and "fallback_random" not in report.config and report.requested.uses_inductor:
        report.absent["accuracy"] = RANDOM
    elif built.outcome is not None:
        report.accuracy = reference.compare(built.outcome)
        if reference.why:
            report.absent["reference"] = reference.why
        if not_compared := reference.not_compared(built.outcome):
            report.absent["accuracy"] = not_compared
        elif not report.accuracy:
            outputs = [output for output in built.outcome.values().values() if output is not None]
            report.absent["accuracy"] = NO_TENSORS if outputs else NOTHING_TO_COMPARE
        wrong = [error for error in report.accuracy if not error.ok]
        if wrong:
            report.problems.append(mismatch(wrong, report.requested))
        if reference.consumed(built.outcome):
            report.problems.append(consumed_generator())


def _failed(name: str, variant: Variant, problem: Problem) -> VariantReport:
    return VariantReport(name=name, requested=variant, stage="failed", problems=[problem])


EAGER_FAILED_ELSEWHERE = Problem(
    severity="error",
    what="Nothing was built, as the call failed on another rank without torch.compile.",
    remedy="See the other ranks' reports.",
)
NO_FOLDER_ELSEWHERE = Problem(
    severity="error",
    what="This variant was not built, as another rank has no folder to build it in.",
    remedy="See the other ranks' reports.",
)
FAILED_ELSEWHERE = "Another rank could not build this variant: it is not called again."
RANDOM = (
    "The subject draws random numbers, and Inductor's code draws different ones than eager. "
    "With options={'fallback_random': True}, both draw the same ones, and results are compared."
)
MAYBE_RANDOM = "The subject draws random numbers; compiled code may draw different ones than eager."
