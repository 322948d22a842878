"""Slices of a report, as they stand in it: what a view asks for when it is looked at."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ..report import COMPILATION_PARTS, PARTS, Code, Compilation, Graph, Report, VariantReport
from ..report.errors import CompilescopeError
from ..report.saving.packed_graphs import pack
from . import package_files, target_kernels


def variant(report: Report, name: str) -> VariantReport:
    """A variant with its compilations in outline.

    Raises
    ------
    CompilescopeError
        The report has no such variant.
    """
    found = report.variant(name)
    return msgspec.structs.replace(
        found,
        compilations=[_outline(c) for c in found.compilations],
        package=package_files.without_texts(found.package) if found.package is not None else None,
    )


def compilation(report: Report, variant: str, compile_id: str, parts: Sequence[str]) -> Compilation:
    """A compilation in outline, with the parts that were asked for.

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
    found = _find(report, variant, compile_id)
    filled = {field: getattr(found, field) for part in parts for field in PARTS[part]}
    if "kernels" in filled:
        filled["kernels"] = [target_kernels.without_texts(kernel) for kernel in found.kernels]
    return msgspec.structs.replace(_outline(found), **filled)


def graph(report: Report, variant: str, compile_id: str, stage: str) -> Graph:
    """A stage's graph without its text, packed.

    Raises
    ------
    CompilescopeError
        The compilation has no graph of that stage; the message says why, where that is known.
    """
    found = _find(report, variant, compile_id)
    if stage not in found.graphs:
        raise CompilescopeError(
            f"{compile_id} of {variant!r} has no graph of the stage {stage!r}.",
            found.absent.get(stage, ""),
            f"It has {', '.join(found.graphs) or 'none'}.",
        )
    return msgspec.structs.replace(pack(found.graphs[stage]), text="")


def _find(report: Report, variant: str, compile_id: str) -> Compilation:
    # Not `Report.compilation`: that completes the code from other variants.
    found = report.variant(variant)
    for one in found.compilations:
        if one.id == compile_id:
            return one
    return report.compilation(compile_id, variant)  # raises, with the ids that there are


def _outline(found: Compilation) -> Compilation:
    empty: dict[str, list[object]] = {field: [] for field in COMPILATION_PARTS}
    return msgspec.structs.replace(found, **empty, graphs={}, code=Code(), raw=[])
