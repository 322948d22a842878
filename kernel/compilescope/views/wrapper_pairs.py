"""Pairs generated files to show side by side: the Python and the C++ wrapper of one graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..analysis.wrapper.default_sides import default_sides, has_cpp_wrapper, other_side
from ..report import Code, Compilation, Region, Report, VariantReport, is_record


class Side(NamedTuple):
    """A generated file with its regions."""

    variant: str
    artifact: str
    text: str
    regions: list[Region]

    @property
    def title(self) -> str:
        """The heading over the file."""
        name = {"python": "Python wrapper", "cpp": "C++ wrapper"}.get(self.artifact, self.artifact)
        return f"{name} ({self.variant})" if self.variant != self.artifact else name


class Pair(NamedTuple):
    """Two files generated from one graph; a side is None if no variant has it."""

    compilation: str
    direction: str
    left: Side | None
    right: Side | None


def compared(report: Report) -> list[VariantReport]:
    """Return the requested variants."""
    return [variant for variant in report.variants if not is_record(variant)]


def as_written(report: Report) -> list[tuple[VariantReport, Compilation]]:
    """Return the variant with the cell's own compilations."""
    written = (variant for variant in report.variants if is_record(variant))
    return [(variant, compilation) for variant in written for compilation in variant.compilations]


def codes(compilation: Compilation) -> Iterator[Code]:
    """Yield a compilation's code: the forward or inference graph's, then the backward's."""
    code: Code | None = compilation.code
    while code is not None:
        yield code
        code = code.backward


def pairs(report: Report, left: str | None = None, right: str | None = None) -> list[Pair]:
    """Return the wrappers to show side by side, a pair for each compilation and direction.

    Parameters
    ----------
    report
        Its variants are searched in order.
    left, right
        Names of the variants to compare. By default a Python wrapper is on the left, and on the
        right the C++ wrapper for the same device with the same settings, if there is one; without a
        C++ wrapper, the Python wrapper for another target. If one is named, the other is chosen
        likewise.
    """
    variants = compared(report)
    named = {variant.name: variant for variant in report.variants}
    at_left, at_right = named.get(left or ""), named.get(right or "")
    if at_left is None and at_right is None:
        sides = default_sides(variants)
        at_left, at_right = named.get(sides.left), named.get(sides.right)
        if at_left is at_right:
            is_cpp = at_left is not None and has_cpp_wrapper(at_left)
            at_left, at_right = (None, at_right) if is_cpp else (at_left, None)
    elif at_left is None and at_right is not None:
        at_left = other_side(variants, at_right)
    elif at_right is None and at_left is not None:
        at_right = other_side(variants, at_left)
    lefts = _sides(report, left, at_left, "python")
    rights = _sides(report, right, at_right, "cpp")
    if lefts and rights and not (left and right) and not _is_comparable(at_left, at_right):
        lefts, rights = ({}, rights) if right else (lefts, {})
    keys = list(dict.fromkeys([*lefts, *rights]))
    return [Pair(*key, lefts.get(key), rights.get(key)) for key in sorted(keys, key=_order)]


def _is_comparable(left: VariantReport | None, right: VariantReport | None) -> bool:
    """Whether two variants differ either in the kind of wrapper or in the device.

    Any others are compared only if both are named.
    """
    if left is None or right is None:
        return False
    is_same_kind = has_cpp_wrapper(left) == has_cpp_wrapper(right)
    return is_same_kind == (left.requested.target != right.requested.target)


def _sides(
    report: Report, name: str | None, preferred: VariantReport | None, artifact: str
) -> dict[tuple[str, str], Side]:
    """The files of one side: of a variant by name, or else of all like the preferred one."""
    if preferred is not None and name is None:
        artifact = "cpp" if has_cpp_wrapper(preferred) else "python"
    target = preferred.requested.target if preferred is not None else None
    chosen: dict[tuple[str, str], Side] = {}
    # Other variants may have a compilation that the preferred one lacks.
    for variant in sorted(report.variants, key=lambda variant: variant is not preferred):
        fits = preferred is not None and not is_record(variant)
        fits = fits and variant.requested.target == target
        if variant.name == name or (name is None and fits):
            for key, side in _files(variant, artifact, only=name is None):
                chosen.setdefault(key, side)
    return chosen


def _files(
    variant: VariantReport, artifact: str, *, only: bool
) -> Iterator[tuple[tuple[str, str], Side]]:
    """Yield a variant's wrappers: of one kind ``only``, or whichever kind it has."""
    for compilation in variant.compilations:
        for code in codes(compilation):
            for kind in (artifact,) if only else (artifact, *({"python", "cpp"} - {artifact})):
                text = code.python if kind == "python" else code.cpp
                if text:
                    key = (compilation.id, code.direction)
                    yield key, Side(variant.name, kind, text, code.regions.get(kind, []))
                    break


def _order(key: tuple[str, str]) -> tuple[list[int], str]:
    """Sort ``0/2`` before ``0/10``, and a backward after its forward."""
    compilation, direction = key
    digits = [int(part) if part.isdigit() else 0 for part in compilation.split("/")]
    return digits, {"forward": "0", "inference": "0"}.get(direction, "1")


def compilations(report: Report) -> list[tuple[VariantReport, Compilation]]:
    """Return every compilation once, with the first variant that has it, in torch's order."""
    first_variants: dict[str, tuple[VariantReport, Compilation]] = {}
    for variant in compared(report):
        for compilation in variant.compilations:
            first_variants.setdefault(compilation.id, (variant, compilation))
    return [
        first_variants[key] for key in sorted(first_variants, key=lambda key: _order((key, "")))
    ]
