"""Runs studies of variants one after the other; one that fails does not stop the others."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from ..builds.built_variants import BuiltVariants, VariantBuild
from ..isolation.user_state import preserved
from ..processes import executors
from ..progress.progress import Cancelled, Monitor, Progress
from ..report import Report, VariantReport
from ..report.argument_checks import check_function
from ..report.errors import CompilescopeError
from ..report.problem import STUDY_FAILED, Problem
from ..targets.call_packer import CallPacker
from ..targets.target_variants import NOT_HERE
from ..torch_api.dynamo.process_state import begin, isolated
from ..torch_api.failures import failures
from ..torch_api.inductor import workers
from .context import HERE, StudyContext, StudyProcesses, TargetContext
from .options import Selected, StudyOption, check_names, names_of
from .table import STUDIES, Study, options_of, studies_with_processes


def check_studies(studies: Sequence[str]) -> None:
    """Checks names of studies.

    Raises
    ------
    CompilescopeError
        There is no study of one of the names; the message lists those that exist.
    """
    for name in studies:
        if name not in STUDIES:
            raise CompilescopeError(
                f"There is no study {name!r}.", remedy=f"The studies are {', '.join(STUDIES)}."
            )


def check_selected(studies: Sequence[str], options: Selected) -> None:
    """Checks that the options are of the studies.

    Raises
    ------
    CompilescopeError
        One is not, or selects nothing.
    """
    known = [option.name for _, option in options_of(studies)]
    for name, names in options.items():
        owners = [study.name for study, option in options_of() if option.name == name]
        if not owners:
            raise CompilescopeError(
                f"No study has an option {name!r}.",
                remedy=f"The options are {', '.join(option.name for _, option in options_of())}.",
            )
        if name not in known:
            raise CompilescopeError(
                f"{name} is an option of the study {', '.join(owners)}, which is not requested.",
                remedy=f"Name the study, or leave {name} out.",
            )
        names_of(name, names)


def check_processes(studies: Sequence[str], processes: StudyProcesses) -> None:
    """Checks an executor and a factory, and that one of the studies takes them.

    Raises
    ------
    CompilescopeError
        One is none, torch sees no GPU for the executor, or no study takes it.
    """
    executors.check(processes.executor)
    if processes.factory is not None:
        check_function("factory", processes.factory, what="a function that returns (fn, args)")
    able = studies_with_processes()
    if set(able).intersection(studies):
        return
    for name, value, why in (
        ("executor", processes.executor, "The processes of other studies run on this machine."),
        ("factory", processes.factory, "Other studies use the call of the report."),
    ):
        if value is not None:
            raise CompilescopeError(
                f"{name} is for the studies {' and '.join(able)}, and none of them is requested.",
                why,
                f"Name such a study, or leave {name} out.",
            )


def check_selected_names(
    studies: Sequence[str], options: Selected, choices: Callable[[StudyOption], Iterable[str]]
) -> None:
    """Checks the names that the options of studies select.

    Parameters
    ----------
    choices
        Returns the names that an option takes.

    Raises
    ------
    CompilescopeError
        There is no such name; the message lists those that exist.
    """
    check_selected(studies, options)
    for _, option in options_of(studies):
        allowed = list(dict.fromkeys(choices(option)))
        # Where the study does not apply to a variant, it says so.
        if allowed and option.name in options:
            check_names(option, options[option.name], allowed)


def study_variants(
    built: BuiltVariants,
    call_packer: CallPacker,
    report: Report,
    variants: Sequence[VariantReport],
    studies: Sequence[str],
    monitor: Monitor,
    changed: Callable[[VariantReport], None],
    *,
    options: Selected | None = None,
    existing: bool = False,
    processes: StudyProcesses = HERE,
) -> None:
    """Runs studies of variants; each completes its variant's report.

    Parameters
    ----------
    built
        The subject's call and its code copies; not open.
    call_packer
        The same call, for the processes of targets.
    report
        The subject's.
    variants
        Built, or generated for a target.
    studies
        Names of `STUDIES`. A study leaves out variants that it does not apply to.
    changed
        Called with a variant after each study of it, and when a long one has a part of its result.
    options
        What is selected with the options of the studies.
    existing
        Whether a study may call the existing build of a variant in place of a new one.
    processes
        Of studies with a choice of them.

    Raises
    ------
    Cancelled
        The monitor was canceled.
    """
    runs = [
        (STUDIES[name], variant)
        for name in studies
        for variant in _applicable(STUDIES[name], variants)
    ]
    for index, (study, variant) in enumerate(runs):

        def step(now: Progress, title: str = study.title, index: int = index) -> None:
            within = now.fraction if now.fraction is not None else 0.0
            monitor.step(
                f"{title}: {now.step}",
                variant=now.variant,
                fraction=(index + within) / len(runs),
            )

        monitor.step(study.title, variant=variant.name, fraction=index / len(runs))
        failed = STUDY_FAILED.format(study.name)
        variant.problems = [problem for problem in variant.problems if problem.what != failed]
        try:
            if variant.requested.target is not None:
                study_target(study, variant, call_packer, monitor.within(step))
            else:
                _study_here(
                    study,
                    variant,
                    built,
                    report,
                    monitor.within(step),
                    functools.partial(changed, variant),
                    options or {},
                    built.find(variant.name, variant.requested) if existing else None,
                    processes,
                )
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - a failed study is a problem of its variant
            variant.problems = [*variant.problems, _failure(failed, error)]
        else:
            variant.studied = list(dict.fromkeys([*variant.studied, study.name]))
        changed(variant)


def _applicable(study: Study, variants: Sequence[VariantReport]) -> Sequence[VariantReport]:
    """The variants that a study applies to; all if there is none, so that each says why not."""
    applicable = [
        variant
        for variant in variants
        if (variant.requested.target is not None) == study.for_targets
    ]
    return applicable or variants


def _study_here(
    study: Study,
    variant: VariantReport,
    built: BuiltVariants,
    report: Report,
    monitor: Monitor,
    changed: Callable[[], None],
    options: Selected,
    existing: VariantBuild | None,
    processes: StudyProcesses,
) -> None:
    with (
        preserved(built.fn, built.args, built.kwargs) as snapshot,
        _isolated(built) if existing is None else built.open(),
    ):
        if existing is not None:
            if not built.holds(variant.name, existing):
                raise CompilescopeError("The code of the call was replaced after it was built.")
            built.install(variant.name)
        compiled = 0 if existing is None else len(existing.layers.frames)
        run_here(
            study,
            StudyContext(
                fn=built.fn,
                args=built.args,
                kwargs=built.kwargs,
                report=variant,
                peaks=report.peaks,
                code_copies=built.code_copies,
                snapshot=snapshot,
                monitor=monitor,
                existing=existing,
                options=options,
                processes=processes,
                changed=changed,
            ),
        )
        if existing is not None and len(existing.layers.frames) > compiled:
            built.drop(variant.name)  # more was compiled: its later calls are not those timed


@contextmanager
def _isolated(built: BuiltVariants) -> Iterator[None]:
    with built.code_copies.guarded(), isolated(), workers.temporary():
        begin()
        yield


def run_here(study: Study, context: StudyContext) -> None:
    """Runs a study of a variant that runs on this machine, if it applies to the variant's backend.

    Raises
    ------
    CompilescopeError
        It is a study of code for a target; or it was named, and the backend is not Inductor.
    """
    if study.run is None:
        raise CompilescopeError(
            f"The study {study.name!r} needs code for a target.",
            remedy="Add a variant with a target: compilescope.Variant(target='h100').",
        )
    requested = context.report.requested
    if study.without_inductor is None or requested.uses_inductor:
        study.run(context)
        return
    result, why = study.without_inductor
    why = why.format(requested.backend or "eager")
    if study.on_demand:
        raise CompilescopeError(why, remedy="Add a variant with the backend 'inductor'.")
    context.report.absent[result] = why


def study_target(
    study: Study, variant: VariantReport, call_packer: CallPacker, monitor: Monitor
) -> None:
    """Runs a study of a variant for a target.

    Raises
    ------
    CompilescopeError
        The study needs the device, which is not in this machine.
    """
    device = variant.target.device.name if variant.target is not None else variant.requested.target
    if study.run_for_target is None:
        what, *why_and_remedy = study.not_for_targets or (NOT_HERE,)
        raise CompilescopeError(what.format(device), *why_and_remedy)

    def step(now: Progress) -> None:
        monitor.step(now.step, variant=variant.name, fraction=now.fraction)

    study.run_for_target(TargetContext(variant, call_packer, monitor.within(step)))


def _failure(what: str, error: Exception) -> Problem:
    problem = (
        error.problem if isinstance(error, CompilescopeError) else failures.of_later_call(error)
    )
    return Problem(
        severity="warning",
        what=what,
        why=" ".join(part for part in (problem.what, problem.why) if part),
        remedy=problem.remedy,
        where=problem.where,
        detail=problem.detail,
    )
