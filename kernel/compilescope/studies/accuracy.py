"""The study of accuracy: errors of a variant's results, and the first kernel that is wrong."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import msgspec

from ..builds.build import Built
from ..builds.comparison.call_result import outcome_of, with_changes
from ..builds.comparison.compare_with_eager import TO_PYTORCH, Reference, mismatch
from ..isolation.muted_output import quiet
from ..isolation.saved_tensors import free_bytes
from ..report import FirstWrongKernel, VariantReport
from ..report.measurements.accuracy import is_mismatch
from ..report.variant import Variant
from ..torch_api.kernels.results import Findings, Lowered, lowerings, record_kernel_results
from ..torch_api.process import caches
from .builds import build_for
from .context import StudyContext
from .first_wrong_kernel import Search, nothing_found

SAME_NUMBERS = "both drawing eager's random numbers (fallback_random)"
NOT_BUILT = "The variant could not be built again to be compared. {}"
NO_KERNELS = "The backend {!r} generates no kernels."
EAGER_FAILED = "The subject fails in eager. {}"


def study_accuracy(study: StudyContext) -> None:
    """Fills a variant's errors, and its first wrong kernel where a result is wrong.

    A subject that draws random numbers is compiled with ``fallback_random``, so that both draw the
    same; the report says so.
    """
    report, variant = study.report, study.report.requested
    study.monitor.step("running eager in float64", variant=report.name, fraction=0.05)
    try:
        reference = Reference(study.fn, study.args, study.kwargs, study.snapshot)
    except Exception as error:  # noqa: BLE001 - the subject's own
        report.absent["accuracy"] = EAGER_FAILED.format(error)
        return
    truth = reference.exact_values()
    report.absent.pop("reference", None)
    if truth is None:
        report.absent["reference"] = reference.why
    study.monitor.check()
    if variant.backend is None:
        report.accuracy = reference.compare(reference.outcome, closely=True)
        report.absent.pop("accuracy", None)
        return
    options: dict[str, Any] = {}
    if reference.random and variant.uses_inductor and not _same_numbers(study):
        options["fallback_random"] = True
        if truth is not None:
            reference.name(f"{truth.name}, {SAME_NUMBERS}")
    study.monitor.step("building to compare", variant=report.name, fraction=0.3)
    with _built(study, _with_options(variant, options)) as built:
        if built.outcome is None:
            why = built.problem.what if built.problem is not None else ""
            report.absent["accuracy"] = NOT_BUILT.format(why)
            return
        report.accuracy = reference.compare(built.outcome, closely=True)
        not_compared = reference.not_compared(built.outcome)
    report.absent.pop("accuracy", None)
    if not_compared:
        report.absent["accuracy"] = not_compared
    report.absent.pop("first_wrong_kernel", None)
    report.first_wrong_kernel = None
    report.problems = [problem for problem in report.problems if not is_mismatch(problem)]
    wrong = [error for error in report.accuracy if not error.ok]
    if not wrong:
        return
    problem = mismatch(wrong, variant)
    report.problems.append(problem)
    study.monitor.check()
    if not variant.uses_inductor:
        report.absent["first_wrong_kernel"] = NO_KERNELS.format(variant.backend)
        return
    study.monitor.step("looking for the kernel", variant=report.name, fraction=0.6)
    _find_first_wrong_kernel(study, reference, options)
    problem.remedy = f"{_conclusion(report)} {TO_PYTORCH}"


def _conclusion(report: VariantReport) -> str:
    """The first kernel whose result is wrong, or why none is known."""
    first = report.first_wrong_kernel
    if first is None:
        return report.absent["first_wrong_kernel"]
    at = f" (node {first.node})" if first.node else ""
    return f"The first kernel whose result is wrong: {first.kernel}{at}."


def _find_first_wrong_kernel(
    study: StudyContext, reference: Reference, options: dict[str, Any]
) -> None:
    """Runs the variant under a Python wrapper, launch by launch, and names the first wrong one."""
    report = study.report
    variant = msgspec.structs.replace(
        _with_options(report.requested, {**options, "triton.cudagraphs": False}), cpp_wrapper=False
    )
    lowered: list[Lowered] = []
    with lowerings(lowered), _built(study, variant) as built:
        if built.outcome is None:
            why = built.problem.what if built.problem is not None else ""
            report.absent["first_wrong_kernel"] = NOT_BUILT.format(why)
            return
        search = Search(built.compilations)
        findings = _search_kernels(study, built, lowered, search)
        wrong = not all(error.ok for error in reference.compare(built.outcome, closely=True))
    kernel: FirstWrongKernel | str = ""
    if search.first_wrong is not None:
        kernel = search.first_wrong_kernel(report.compilations)
    if isinstance(kernel, str):
        report.absent["first_wrong_kernel"] = kernel or nothing_found(findings, wrong=wrong)
    else:
        report.first_wrong_kernel = kernel


def _search_kernels(
    study: StudyContext, built: Built, lowered: list[Lowered], search: Search
) -> Findings:
    try:
        with (
            quiet(),
            record_kernel_results(lowered, search.sites, search.compare, free_bytes) as findings,
        ):
            outcome_of(built.call(*study.args, **study.kwargs), study.snapshot.backward)
    finally:
        study.snapshot.restore()
    return findings


@contextlib.contextmanager
def _built(study: StudyContext, variant: Variant) -> Iterator[Built]:
    """The variant built once more, with its outcome; the state is restored."""
    folder = caches.new_folder()
    try:
        built = build_for(study, variant, folder, gradients=True)
        if built.outcome is not None:
            built.outcome = with_changes(built.outcome, study.snapshot)
        study.snapshot.restore()
        yield built
    finally:
        study.snapshot.restore()
        shutil.rmtree(folder, ignore_errors=True)


def _same_numbers(study: StudyContext) -> bool:
    return "fallback_random" in study.report.config


def _with_options(variant: Variant, options: dict[str, Any]) -> Variant:
    return msgspec.structs.replace(variant, options={**variant.options, **options})
