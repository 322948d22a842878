"""Which variants an overview covers, and their names in it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...report import Report, VariantReport, is_record
from ...report.variant import Variant
from ..changes.same_code import plainest

_TITLES = {"python": Variant(), "cpp": Variant(cpp_wrapper=True)}


def title(variant: VariantReport) -> str:
    """A variant's name in a sentence: ``Python wrapper``, or the name that it was given."""
    requested, target = variant.requested, variant.target
    wrapper = "C++ wrapper" if requested.cpp_wrapper else "Python wrapper"
    if _TITLES.get(variant.name) == requested:
        return wrapper
    here = msgspec.structs.replace(requested, target=None)
    if target is not None and here in _TITLES.values():
        return f"{wrapper} on {target.device.name}"
    return variant.name


def places(report: Report) -> list[VariantReport]:
    """The variants to compare: eager first, then in the report's order."""
    compared = [variant for variant in report.variants if not is_record(variant)]
    return sorted(compared, key=lambda variant: variant.requested.backend is not None)


def distinct(variants: Sequence[VariantReport]) -> list[VariantReport]:
    """The variants without the timed ones that have the same code as a plainer timed one."""
    plain = plainest([variant for variant in variants if variant.timing is not None])
    return [variant for variant in variants if plain.get(variant.name, variant) is variant]


def current(report: Report) -> VariantReport | None:
    """The variant that the overview is about: the first that compiled and runs, if any."""
    compiled = [place for place in places(report) if place.requested.backend is not None]
    whole = [variant for variant in compiled if variant.stage != "failed"] or compiled
    measurable = [variant for variant in whole if variant.target is None] or whole
    return next(iter(measurable), None)


def eager_of(report: Report) -> VariantReport | None:
    """The variant without torch.compile, if the report has it."""
    return next((variant for variant in report.variants if variant.requested.backend is None), None)


def trains(variant: VariantReport) -> bool:
    """Whether it has a backward; a timing does not say whether the call runs it."""
    return any(
        kernel.direction == "backward"
        for compilation in variant.compilations
        for kernel in compilation.kernels
    )


def with_article(name: str) -> str:
    """A variant's title within a sentence: "the C++ wrapper", but "max-autotune"."""
    return f"the {name}" if name.startswith(("Python wrapper", "C++ wrapper")) else name


def named(variant: VariantReport) -> str:
    """A variant in a sentence, as a name: ``the C++ wrapper``, ``the variant 'cpp2'``."""
    name = title(variant)
    return f"the variant {name!r}" if with_article(name) == name else with_article(name)


def leading(variant: VariantReport) -> str:
    """A variant's title at the start of a sentence: "The C++ wrapper", but "max-autotune"."""
    name = title(variant)
    return name if with_article(name) == name else f"The {name}"
