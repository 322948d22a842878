"""Which two variants are shown side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from ...report import VariantReport, is_record
from ...report.contents import Sides


def default_sides(variants: Sequence[VariantReport], asked: Collection[str] = ()) -> Sides:
    """Choose the two variants that are shown until the user chooses others.

    Left is the first Python wrapper, right what `other_side` names. Variants of the call come
    before records of the cell's own compilations, and those that compiled before those that failed.
    What was measured stays left of the requested code for a target, whose times are estimates.

    Parameters
    ----------
    variants
        The variants of a report.
    asked
        Names of the variants that the last inspection requested. Two or more of them are shown, not
        other variants of the report.
    """
    ranked = _ranked(variants)
    requested = [variant for variant in ranked if variant.name in asked]
    measured = [variant for variant in ranked if variant.timing is not None]
    targets = {variant.requested.target for variant in requested}
    if measured and len(targets) == 1 and None not in targets:
        return Sides(left=_left(measured).name, right=_left(requested).name)
    ranked = requested if len(requested) > 1 else ranked
    if not ranked:
        return Sides()
    left = _left(ranked)
    right = other_side(ranked, left) or left
    return Sides(left=left.name, right=right.name)


def _left(variants: Sequence[VariantReport]) -> VariantReport:
    return next((variant for variant in variants if not has_cpp_wrapper(variant)), variants[0])


def other_side(variants: Sequence[VariantReport], variant: VariantReport) -> VariantReport | None:
    """Choose the variant to show next to another; None if there is no other.

    That is one with the other wrapper; if there is none, one with the same wrapper for another
    device; otherwise any other variant.
    """
    others = [other for other in _ranked(variants) if other is not variant]
    is_cpp, target = has_cpp_wrapper(variant), variant.requested.target
    elsewhere = (
        other
        for other in others
        if has_cpp_wrapper(other) == is_cpp and other.requested.target != target
    )
    return other_wrapper(variants, variant) or next(elsewhere, next(iter(others), None))


def other_wrapper(
    variants: Sequence[VariantReport], variant: VariantReport
) -> VariantReport | None:
    """Find the variant whose wrapper is compared with that of another.

    It differs in the wrapper alone; if there is no such variant, it is the first for the same
    device with the other kind of wrapper.
    """
    if variant.requested.backend is None:
        return None
    is_cpp = has_cpp_wrapper(variant)
    exact = with_wrapper(variants, variant, cpp=not is_cpp)
    if exact is not None and exact is not variant:
        return exact
    return next(
        (
            other
            for other in _ranked(variants)
            if _has_wrapper(other)
            and has_cpp_wrapper(other) != is_cpp
            and other.requested.target == variant.requested.target
        ),
        None,
    )


def with_wrapper(
    variants: Sequence[VariantReport], variant: VariantReport, *, cpp: bool
) -> VariantReport | None:
    """Find the variant that has the settings of another and a C++ or a Python wrapper."""
    requested = msgspec.structs.replace(variant.requested, cpp_wrapper=cpp)
    return next(
        (other for other in variants if not is_record(other) and other.requested == requested),
        None,
    )


def has_cpp_wrapper(variant: VariantReport) -> bool:
    """Whether the wrapper is in C++.

    What the cell itself compiled may have a C++ wrapper by an option that ``requested`` lacks.
    """
    if variant.requested.cpp_wrapper:
        return True
    codes = [compilation.code for compilation in variant.compilations]
    return any(code.cpp for code in codes) and not any(code.python for code in codes)


def _ranked(variants: Sequence[VariantReport]) -> list[VariantReport]:
    """The variants that ``torch.compile`` compiles, those with something to show first."""
    compiled = (variant for variant in variants if variant.requested.backend is not None)
    return sorted(
        compiled,
        key=lambda variant: (
            is_record(variant),
            variant.stage == "failed",
            not _has_wrapper(variant),
        ),
    )


def _has_wrapper(variant: VariantReport) -> bool:
    """Whether Inductor writes a wrapper for it, also one that is still to come."""
    return variant.requested.uses_inductor or any(
        compilation.code.python or compilation.code.cpp for compilation in variant.compilations
    )
