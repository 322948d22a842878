"""Adds results about variants to the report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from .. import notebook_cells
from ..analysis.backward_links import complete
from ..analysis.changes.variants import note_changes
from ..analysis.figures.payback import paybacks
from ..analysis.generated_code import NO_CODE
from ..analysis.guards.reasons.recompile_words import add_causes
from ..analysis.kernels.modules import link_to_call
from ..analysis.overview.bounds import add_words
from ..analysis.overview.limit_verdict import verdict
from ..analysis.problems.distinct_breaks import distinct_breaks, share_break_costs
from ..analysis.wrapper.launch_pairs import pair
from ..analysis.wrapper.steps import find_steps
from ..builds.built_variants import COMPILES_NOTHING, EAGER, MAX_BUILDS
from ..report import Compilation, Report, Timing, VariantReport
from ..report.problem import FAULT, Problem, compile_failure
from ..report.variant import Variant
from ..torch_api.trace import compiled_callable


def find(report: Report, name: str) -> VariantReport | None:
    """A variant, if the report has it."""
    return next((variant for variant in report.variants if variant.name == name), None)


def put(report: Report, result: VariantReport, order: Sequence[str] = ()) -> set[str]:
    """Adds a variant or takes the place of an earlier one; then links it with its partner.

    Parameters
    ----------
    order
        The variants' names in an earlier report of the call, which decide a new variant's place.

    Returns
    -------
    set of str
        The variants whose texts, or what their lines mean, may have changed: this one, and a
        partner whose launches have other keys now.
    """
    for compilation in result.compilations:
        if compiled_callable.is_wrapper(compilation.frame):
            compilation.frame = report.subject.where
            if compilation.frame is None:
                compilation.absent["frame"] = _NO_FRAME
            add_causes(compilation)  # their place may be the frame's
        if report.subject.call is not None:
            link_to_call(compilation, report.subject.call)
    if result.stage == "failed":
        _explain_failure(result)
    result.breaks = distinct_breaks(result.compilations)
    variants = report.variants
    for index, variant in enumerate(variants):
        if variant.name == result.name:
            variants[index] = result
            break
    else:
        variants.insert(_place(variants, result.name, order), result)
    share_break_costs(report)
    rekeyed = _pair(report, result)
    note_changes(report, result.name)
    report.files |= notebook_cells.texts(
        file for compilation in result.compilations for file in compilation.source_files
    )
    if result.target is not None:
        # Estimates come with the code, so the conclusions can be drawn.
        conclude(report, result)
    return {result.name, *rekeyed}


def _place(variants: Sequence[VariantReport], name: str, order: Sequence[str]) -> int:
    """The index of a new variant: before those that follow it in the order, else at the end."""
    later = set(order[order.index(name) + 1 :]) if name in order else set()
    return next(
        (place for place, variant in enumerate(variants) if variant.name in later), len(variants)
    )


def _explain_failure(failed: VariantReport) -> None:
    """Marks compilations without code as failed, with the reason, and removes their guards.

    torch never installed those. If code exists but could not be built, they are the guards that it
    would have had.
    """
    compilations = failed.compilations
    failure = compile_failure(failed.problems)
    for compilation in compilations:
        code = compilation.code
        if code.python or code.cpp:
            continue
        is_failed = len(compilations) == 1 or compilation.outcome == "failed"
        if is_failed:
            code.absent = {name: why for name, why in code.absent.items() if why != NO_CODE}
            compilation.absent.setdefault("code", failure)
        if is_failed or (compilation.guards and failed.requested.uses_inductor):
            compilation.guards, compilation.guard_tree, compilation.conditions = [], [], []
            compilation.absent["guards"] = f"{failure} {_NOT_INSTALLED}"


def merged(report: Report, built: VariantReport) -> VariantReport:
    """A built variant, completed from its sources, for example with a backward that never ran.

    If an error of compilescope left out parts of the sources, it is still reported.
    """
    before = find(report, built.name)
    if before is None:
        return built
    faults = [problem for problem in before.problems if problem.what.startswith(FAULT)]
    built.problems += [fault for fault in faults if fault not in built.problems]
    if built.stage == "failed" and len(before.compilations) >= len(built.compilations):
        # A failed build has fewer results: torch logs the guards and the origins of kernels
        # only at the end.
        built.compilations = before.compilations
    earlier_by_id = {compilation.id: compilation for compilation in before.compilations}
    for compilation in built.compilations:
        earlier = earlier_by_id.get(compilation.id)
        if earlier is not None and compilation.code.backward is None:
            compilation.code.backward = earlier.code.backward
        elif earlier is not None:
            complete(compilation, earlier)
        compilation.steps = find_steps(compilation)
    return built


def lacks_code(built: VariantReport) -> bool:
    """Whether a variant failed, or has a backward that never ran or whose kernels have no nodes.

    torch compiles a backward when it first runs, and some versions then map no kernel to its nodes.
    """
    return built.stage == "failed" or any(map(_lacks_backward, built.compilations))


def _lacks_backward(compilation: Compilation) -> bool:
    if "forward" in compilation.graphs and compilation.code.backward is None:
        return True
    return any(
        kernel.direction == "backward" and not kernel.nodes for kernel in compilation.kernels
    )


def put_timings(report: Report, timings: Mapping[str, Timing], but: Collection[str] = ()) -> None:
    """Adds timings to variants; those that are not compiled get eager's.

    Parameters
    ----------
    but
        The variants that keep their timing.
    """
    uncompiled = [variant for variant in report.variants if variant.requested.backend is None]
    if not uncompiled:
        # The report shows the baseline of the others.
        uncompiled = [
            VariantReport(
                name=EAGER,
                requested=Variant(backend=None),
                stage="built",
                absent={"compilations": COMPILES_NOTHING},
            )
        ]
        put(report, uncompiled[0])
    all_timings = dict(timings) | {variant.name: timings[EAGER] for variant in uncompiled}
    for variant in report.variants:
        if variant.name in all_timings and variant.name not in but:
            variant.timing = all_timings[variant.name]
            variant.absent.pop("timing", None)
            variant.stage, variant.earlier = "built", False
    # The conclusions compare variants, so all of them are updated.
    for variant in report.variants:
        conclude(report, variant)


def note_ended(report: Report, problem: Problem | None) -> None:
    """Adds why measuring ended early, or removes that if the last measurement did not."""
    report.problems = [
        problem for problem in report.problems if not problem.what.startswith(_ENDED)
    ]
    if problem is not None:
        report.problems.append(msgspec.structs.replace(problem, what=f"{_ENDED}{problem.what}"))


def note_untimed(report: Report, names: Collection[str], problem: Problem) -> None:
    """Adds the reason why variants that are built were not timed."""
    note_ended(report, problem)
    for variant in report.variants:
        if variant.name in names and variant.timing is None:
            variant.absent["timing"] = "A later call failed before it was timed."


def note_evicted(report: Report, names: Collection[str], ready: Collection[str]) -> None:
    """Returns why some of the named variants are built and yet not timed."""
    for variant in report.variants:
        is_built = variant.stage == "built" and variant.requested.backend is not None
        is_evicted = is_built and variant.name in names and variant.name not in ready
        if is_evicted and variant.timing is None:
            variant.absent.setdefault("timing", _EVICTED)


_EVICTED = f"Only the latest {MAX_BUILDS} builds are kept: measure it by itself."


def conclude(report: Report, variant: VariantReport) -> None:
    """Recomputes the conclusions from a variant's times."""
    variant.paybacks = paybacks(variant)
    variant.verdict = verdict(variant, report)
    add_words(variant)


def add_earlier_variants(
    report: Report, before: Report, but: Collection[str], requested: Collection[Variant]
) -> None:
    """Adds the variants of an earlier report, except those named and those requested again."""
    for variant in before.variants:
        if (
            variant.name not in but
            and variant.requested not in requested
            and variant.stage != "failed"
        ):
            report.variants.append(msgspec.structs.replace(variant, earlier=True))
    report.files = before.files | report.files


def note_unsaved(report: Report, unsaved: Sequence[str]) -> None:
    """Adds which parts of the subject's state are not restored."""
    known_problem = next((problem for problem in report.problems if problem.what == _UNSAVED), None)
    for reason in unsaved:
        if known_problem is None:
            known_problem = Problem(severity="info", what=_UNSAVED, why=reason)
            report.problems.append(known_problem)
        elif reason not in known_problem.why:
            known_problem.why += f" {reason}"


def _pair(report: Report, result: VariantReport) -> set[str]:
    """Links a Python wrapper with the C++ wrapper under otherwise the same settings.

    Returns the partners whose launches have other keys now.
    """
    rekeyed: set[str] = set()

    def other_wrapper(variant: Variant) -> Variant:
        return msgspec.structs.replace(variant, cpp_wrapper=not variant.cpp_wrapper)

    for other in report.variants:
        if other.requested == other_wrapper(result.requested) and other.name != result.name:
            python, cpp = (other, result) if result.requested.cpp_wrapper else (result, other)
            by_id = {compilation.id: compilation for compilation in cpp.compilations}
            for compilation in python.compilations:
                if compilation.id in by_id and pair(compilation, by_id[compilation.id]):
                    rekeyed.add(other.name)
    return rekeyed


_NOT_INSTALLED = "torch installs guards once the whole frame is compiled."
_ENDED = "Measuring ended early. "
_UNSAVED = "Some of the subject's state is not restored after an inspection."
_NO_FRAME = "The subject is not written in Python: Dynamo compiled a wrapper of its own around it."
