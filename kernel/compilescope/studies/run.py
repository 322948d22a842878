"""Studies made of variants, one after the other; one that fails is not the others' matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..builds.built_variants import BuiltVariants
from ..isolation.user_state import preserved
from ..progress.progress import Cancelled, Monitor, Progress
from ..report import Report, VariantReport
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..targets import target_variants
from ..targets.target_variants import Shipment
from ..torch_api.dynamo.process_state import begin, isolated
from ..torch_api.failures import failures
from ..torch_api.inductor import workers
from .table import STUDIES, STUDY_NAMES, Study, applies

FAILED = "The study of {} failed."
_TITLES = {
    "layers": "where a call's time goes",
    "kernels": "each kernel's time",
    "steps": "what each step of the wrapper costs",
    "routes": "ways to custom operators",
    "startups": "first calls in processes of their own",
    "cold": "settings and the first call",
    "package": "sources for ahead of time",
    "aot": "compiled ahead of time",
    "accuracy": "accuracy against higher precision",
    "assembly": "kernels compiled for the target",
    "check": "kernels checked in Triton's interpreter",
}


def check_studies(studies: Sequence[str]) -> None:
    """Refuses studies that there are not.

    Raises
    ------
    CompilescopeError
        One of them; the message lists those there are.
    """
    for name in studies:
        if name not in STUDY_NAMES:
            raise CompilescopeError(
                f"There is no study {name!r}.", remedy=f"There are {', '.join(STUDY_NAMES)}."
            )


def study_variants(
    kept: BuiltVariants,
    shipment: Shipment,
    report: Report,
    variants: Sequence[VariantReport],
    studies: Sequence[str],
    monitor: Monitor,
    changed: Callable[[VariantReport], None],
) -> None:
    """Makes studies of variants, and puts what they find into their reports.

    Parameters
    ----------
    kept
        Says what is called; not open.
    shipment
        The same call, for targets' processes.
    report
        Of the subject.
    variants
        Built; or those for a target, which have their code.
    studies
        Names of `STUDIES`. One that applies to some of the variants leaves the others out.
    changed
        Called with a variant after each study of it.
    """
    todo = [(name, variant) for name in studies for variant in _meant(name, variants)]
    for index, (name, variant) in enumerate(todo):

        def step(now: Progress, name: str = name, index: int = index) -> None:
            within = now.fraction if now.fraction is not None else 0.0
            monitor.step(
                f"{_TITLES.get(name, name)}: {now.step}",
                variant=now.variant,
                fraction=(index + within) / len(todo),
            )

        monitor.step(_TITLES.get(name, name), variant=variant.name, fraction=index / len(todo))
        variant.problems = [one for one in variant.problems if one.what != FAILED.format(name)]
        try:
            if variant.requested.target is not None:
                target_variants.study(variant, name, shipment, monitor.within(step))
            else:
                _study(kept, report, variant, name, monitor.within(step))
        except Cancelled:
            raise
        except Exception as error:  # noqa: BLE001 - it is this study's problem alone
            variant.problems = [*variant.problems, _failed(name, error)]
        else:
            variant.studied = list(dict.fromkeys([*variant.studied, name]))
        changed(variant)


def _meant(name: str, variants: Sequence[VariantReport]) -> Sequence[VariantReport]:
    """The variants that a study is of; where there is none, each says why not."""
    meant = [one for one in variants if applies(name, target=one.requested.target is not None)]
    return meant or variants


def _study(
    kept: BuiltVariants, report: Report, variant: VariantReport, name: str, monitor: Monitor
) -> None:
    if name not in STUDIES:
        raise CompilescopeError(
            f"The study {name!r} is of code for a target.",
            remedy="Add a variant with a target: compilescope.Variant(target='h100').",
        )
    with (
        preserved(kept.fn, kept.args, kept.kwargs) as snapshot,
        kept.code_copies.guarded(),
        isolated(),
        workers.temporary(),
    ):
        begin()
        STUDIES[name](
            Study(
                fn=kept.fn,
                args=kept.args,
                kwargs=kept.kwargs,
                report=variant,
                peaks=report.peaks,
                code_copies=kept.code_copies,
                snapshot=snapshot,
                monitor=monitor,
            )
        )


def _failed(name: str, error: Exception) -> Problem:
    problem = error.problem if isinstance(error, CompilescopeError) else failures.explain(error)
    return Problem(
        severity="warning",
        what=FAILED.format(name),
        why=" ".join(part for part in (problem.what, problem.why) if part),
        remedy=problem.remedy,
        where=problem.where,
        detail=problem.detail,
    )
