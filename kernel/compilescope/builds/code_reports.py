"""The reports of variants with their code, before anything is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..analysis.parts import collecting_failures
from ..report import Compilation, VariantReport
from ..report.variant import Variant
from ..torch_api.dynamo import compile_variant
from ..torch_api.trace.aot_compiled import AotCompiled
from .aot_compiled import COMPILED_BEFORE, compilations_of
from .built_variants import COMPILES_NOTHING
from .capture_graphs import Captured
from .compile_warnings import remarks
from .sources import generate, without_code


def of_eager(name: str, variant: Variant) -> VariantReport:
    """Return the report of a variant that compiles nothing."""
    absent = {"compilations": COMPILES_NOTHING}
    return VariantReport(name=name, requested=variant, absent=absent)


def of_aot_compiled(compiled: AotCompiled, name: str, variant: Variant) -> VariantReport:
    """Return the report of a result of ``aot_compile``, with what the result holds."""
    report = _analyzed(name, variant, lambda: compilations_of(compiled, name))
    report.stage = "built"
    report.absent = {"compile_time": COMPILED_BEFORE}
    return report


def captured_only(captured: Captured, name: str, variant: Variant) -> VariantReport:
    """Return the report of a variant until its code is generated: what Dynamo captured."""
    report = _analyzed(name, variant, lambda: without_code(captured, name))
    report.stage = "captured"
    return report


def generated(
    captured: Captured,
    name: str,
    variant: Variant,
    *,
    fn: Callable[..., Any] | None,
    on_step: Callable[[str], None],
    coming: Sequence[Variant],
) -> VariantReport:
    """Return the report of a variant with the code that its backend generates for a capture.

    Parameters
    ----------
    captured
        What the code is generated for.
    name, variant
        Which variant.
    fn
        The subject; None if it is not in this process.
    on_step
        Called with each step that begins.
    coming
        The variants of the same capture that are generated next.
    """
    sources = generate(captured, name, variant, on_step=on_step, coming=coming)
    problems = sources.problems
    if captured.problem is not None:
        problems.insert(0, captured.problem)
    else:
        problems += remarks(sources.compilations, fn, captured.off, sources.suppressed)
    failed = any(problem.severity == "error" for problem in problems)
    return VariantReport(
        name=name,
        requested=variant,
        stage="failed" if failed else "sources",
        config=compile_variant.differing_settings(compile_variant.settings_of(variant))
        if variant.backend == "inductor"
        else {},
        effective=sources.effective,
        cuda_graphs=sources.cuda_graphs,
        compilations=sources.compilations,
        problems=problems,
    )


def _analyzed(
    name: str, variant: Variant, analyze: Callable[[], list[Compilation]]
) -> VariantReport:
    """Return a report with the compilations, and a problem for each part that is not analyzed."""
    with collecting_failures() as unanalyzed:
        compilations = analyze()
    return VariantReport(
        name=name, requested=variant, compilations=compilations, problems=unanalyzed
    )
