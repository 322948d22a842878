"""Parts of a report, unchanged: what a view requests when it is opened."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..analysis.contents.compiled import without_texts as without_kernel_texts
from ..analysis.contents.package_files import without_texts as without_file_texts
from ..report import COMPILATION_PARTS, PARTS, Code, Compilation, Graph, Report, VariantReport
from ..report.errors import CompilescopeError
from ..report.saving.packed_graphs import pack


def variant(report: Report, name: str) -> VariantReport:
    """A variant with its compilations in outline.

    Raises
    ------
    CompilescopeError
        The report has no such variant.
    """
    complete = report.variant(name)
    return msgspec.structs.replace(
        complete,
        compilations=[_outline(c) for c in complete.compilations],
        package=without_file_texts(complete.package) if complete.package is not None else None,
    )


def compilation(report: Report, variant: str, compile_id: str, parts: Sequence[str]) -> Compilation:
    """An outline of a compilation, with the requested parts.

    Raises
    ------
    CompilescopeError
        The report has no such compilation, or there is no such part.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise CompilescopeError(
            f"A compilation has no part {unknown[0]!r}.", remedy=f"It has {', '.join(PARTS)}."
        )
    complete = _find(report, variant, compile_id)
    filled = {field: getattr(complete, field) for part in parts for field in PARTS[part]}
    if "kernels" in filled:
        filled["kernels"] = [without_kernel_texts(kernel) for kernel in complete.kernels]
    return msgspec.structs.replace(_outline(complete), **filled)


def graph(report: Report, variant: str, compile_id: str, stage: str) -> Graph:
    """A stage's graph without its text, packed.

    Raises
    ------
    CompilescopeError
        The compilation has no graph of that stage; the message says why, where that is known.
    """
    complete = _find(report, variant, compile_id)
    if stage not in complete.graphs:
        raise CompilescopeError(
            f"{compile_id} of {variant!r} has no graph of the stage {stage!r}.",
            complete.absent.get(stage, ""),
            f"It has {', '.join(complete.graphs) or 'none'}.",
        )
    return msgspec.structs.replace(pack(complete.graphs[stage]), text="")


def _find(report: Report, variant: str, compile_id: str) -> Compilation:
    # Not `Report.compilation`: that completes the code from other variants.
    variant_report = report.variant(variant)
    for compilation in variant_report.compilations:
        if compilation.id == compile_id:
            return compilation
    return report.compilation(compile_id, variant)  # raises, with the ids that there are


def _outline(compilation: Compilation) -> Compilation:
    empty: dict[str, list[object]] = {field: [] for field in COMPILATION_PARTS}
    return msgspec.structs.replace(compilation, **empty, graphs={}, code=Code(), raw=[])
