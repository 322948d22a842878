"""The contents of a report's file for a panel without a kernel."""

from __future__ import annotations

from ...report import STAGES, WRAPPERS, Compilation, Report, VariantReport
from ...report.contents import Contents, StoredCompilation, StoredVariant
from ..problems.problem_list import problems_of
from ..wrapper.default_sides import default_sides
from . import texts
from .compiled import compiled
from .package_files import packaged
from .summaries import sweep_summary, variant_summary

_NAMES = (
    *WRAPPERS,
    *(f"backward.{name}" for name in WRAPPERS),
    *(f"graph.{stage}" for stage in STAGES),
)


def contents(report: Report) -> Contents:
    """The summaries of a report's variants, and the places of its texts."""
    problems = problems_of(report)
    return Contents(
        variants=[_variant(report, variant) for variant in report.variants],
        sweep=sweep_summary(report.sweep) if report.sweep is not None else None,
        problems=len(problems),
        listed_problems=problems,
        sides=default_sides(report.variants),
    )


def _variant(report: Report, variant: VariantReport) -> StoredVariant:
    summary = variant_summary(report, variant)
    for compilation in summary.compilations:
        compilation.artifacts = []
    return StoredVariant(
        summary=summary,
        compilations=[_compilation(compilation) for compilation in variant.compilations],
        package=list(packaged(variant)),
    )


def _compilation(compilation: Compilation) -> StoredCompilation:
    stored = [*texts.listed(compilation), *compiled(compilation)]
    present = {text.name for text in stored}
    absent = {}
    for name in _NAMES:
        place = "" if name in present else texts.reason_place(compilation, name)
        if place:
            # One reason for all of a backward that there is not.
            absent["backward" if place == "absent/backward" else name] = place
    return StoredCompilation(texts=stored, absent=absent)
