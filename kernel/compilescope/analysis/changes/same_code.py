"""Variants whose generated code is identical: a difference between their latencies is chance."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec

from ...report import VariantReport
from ...report.variant import CUDA_GRAPH_MODES, CUDA_GRAPHS, Variant
from ..text.wrapper_marks import without_number
from ..wrapper.launches import codes_of
from .kernels import kernel_changes


def wrapper_texts(variant: VariantReport) -> list[str]:
    """The wrapper of each graph, without torch's count of compilations."""
    return [
        without_number(code.cpp or code.python or "")
        for compilation in variant.compilations
        for code in codes_of(compilation)
    ]


def plainest(variants: Sequence[VariantReport]) -> dict[str, VariantReport]:
    """The name of each variant → the variant that stands for all with the same code.

    That is the variant itself if no other has its code, and otherwise the first without a setting
    that is not in effect.
    """
    alike: dict[Hashable, list[list[VariantReport]]] = {}
    for variant in variants:
        groups = alike.setdefault(_besides_kernels(variant), [])
        same = next((group for group in groups if _same_kernels(group[0], variant)), None)
        if same is None:
            groups.append([variant])
        else:
            same.append(variant)
    return {
        variant.name: min(group, key=_unapplied)
        for groups in alike.values()
        for group in groups
        for variant in group
    }


def _besides_kernels(variant: VariantReport) -> Hashable:
    """All that variants with the same code have in common apart from kernels, to compare it."""
    texts = wrapper_texts(variant)
    if not any(texts):
        return variant.name
    # Options may change how the same code is compiled; these switches only change the code.
    requested = msgspec.structs.replace(variant.requested, mode=None, dynamic=None, fullgraph=False)
    guards = tuple(len(compilation.guards) for compilation in variant.compilations)
    return (tuple(texts), repr(requested), guards, _cuda_graphs(variant))


def _cuda_graphs(variant: VariantReport) -> str:
    """Whether calls replay CUDA graphs, as the setting's effect is called."""
    effects = [setting.actual for setting in variant.effective if setting.setting == CUDA_GRAPHS]
    if effects:
        return effects[0]
    return "unknown" if variant.requested.mode in CUDA_GRAPH_MODES else "off"


def _same_kernels(variant: VariantReport, other: VariantReport) -> bool:
    if _sources(variant) == _sources(other):
        return True
    return all(
        kernel.outcome == "identical" and not kernel.why
        for kernel in kernel_changes(variant, other)
    )


def _sources(variant: VariantReport) -> list[tuple[str, str, str]]:
    return [
        (compilation.id, kernel.name, kernel.source)
        for compilation in variant.compilations
        for kernel in compilation.kernels
    ]


def _unapplied(variant: VariantReport) -> tuple[int, int]:
    """How many settings are not in effect, and how many switches are set."""
    switches = [
        field
        for field in Variant.__struct_fields__
        if getattr(variant.requested, field) != getattr(Variant(), field)
    ]
    return sum(setting.differs for setting in variant.effective), len(switches)
