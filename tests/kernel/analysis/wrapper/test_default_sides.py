"""The two variants that are shown side by side, and the one whose wrapper is compared."""

from __future__ import annotations

from typing import Any

import pytest
from compilescope.analysis.wrapper.default_sides import (
    default_sides,
    has_cpp_wrapper,
    other_side,
    other_wrapper,
)
from compilescope.report import Code, Compilation, Timing, Variant, VariantReport


def variant(name: str, *, failed: bool = False, recorded: bool = False, **settings: Any):
    return VariantReport(
        name=name,
        requested=Variant(**settings),
        stage="failed" if failed else "sources",
        recorded=recorded,
    )


EAGER = variant("eager", backend=None)
PYTHON = variant("python")
CPP = variant("cpp", cpp_wrapper=True)
TUNED = variant("tuned", mode="max-autotune")
TUNED_CPP = variant("tuned cpp", mode="max-autotune", cpp_wrapper=True)
H100 = variant("python on h100", target="h100")
CPP_H100 = variant("cpp on h100", cpp_wrapper=True, target="h100")
MI300X = variant("python on mi300x", target="mi300x")
FAILED = variant("python", failed=True)
AOT_EAGER = variant("aot_eager", backend="aot_eager")
IN_CELL = variant("in the cell", recorded=True)
CELL_WITH_CPP = variant("in the cell", recorded=True)
CELL_WITH_CPP.compilations = [Compilation(id="0/0", code=Code(cpp="void call() {}"))]


@pytest.mark.parametrize(
    ("variants", "left", "right"),
    [
        ([], "", ""),
        ([EAGER], "", ""),
        ([PYTHON], "python", "python"),
        ([CPP], "cpp", "cpp"),
        ([EAGER, CPP, PYTHON], "python", "cpp"),
        # One that differs in the wrapper alone comes before another C++ wrapper.
        ([PYTHON, TUNED_CPP, CPP], "python", "cpp"),
        ([TUNED, PYTHON, CPP, TUNED_CPP], "tuned", "tuned cpp"),
        ([TUNED, CPP], "tuned", "cpp"),
        ([PYTHON, TUNED], "python", "tuned"),
        ([CPP, TUNED_CPP], "cpp", "tuned cpp"),
        ([H100, MI300X], "python on h100", "python on mi300x"),
        ([H100, TUNED, MI300X, CPP_H100], "python on h100", "cpp on h100"),
        ([PYTHON, CPP_H100, H100], "python", "python on h100"),
        ([PYTHON, CPP_H100], "python", "cpp on h100"),
        # What failed stands beside what did not, so that its error is seen.
        ([FAILED, TUNED, CPP], "tuned", "cpp"),
        ([FAILED, CPP], "python", "cpp"),
        ([PYTHON, variant("cpp", cpp_wrapper=True, failed=True), TUNED_CPP], "python", "cpp"),
        ([AOT_EAGER, PYTHON, CPP], "python", "cpp"),
        ([AOT_EAGER, CPP], "aot_eager", "cpp"),
        # What the cell compiled itself comes first in a report.
        ([IN_CELL, PYTHON, CPP], "python", "cpp"),
        ([IN_CELL], "in the cell", "in the cell"),
        ([PYTHON, CELL_WITH_CPP], "python", "in the cell"),
    ],
)
def test_the_default_sides(variants: list[VariantReport], left: str, right: str) -> None:
    sides = default_sides(variants)
    assert (sides.left, sides.right) == (left, right)


def test_what_was_measured_stays_beside_code_for_a_target() -> None:
    measured = variant("python")
    measured.timing = Timing(median_us=50.0, interval_us=(49.0, 51.0), samples_us=[50.0])
    variants = [measured, CPP, H100, CPP_H100, MI300X]
    for asked in (["python on h100"], ["python on h100", "cpp on h100"]):
        sides = default_sides(variants, asked)
        assert (sides.left, sides.right) == ("python", "python on h100")
    # Two targets are compared with each other.
    sides = default_sides(variants, ["python on h100", "python on mi300x"])
    assert (sides.left, sides.right) == ("python on h100", "python on mi300x")


def test_two_variants_of_the_last_inspection_are_shown() -> None:
    variants = [PYTHON, CPP, TUNED, H100]
    sides = default_sides(variants, ["tuned", "python on h100"])
    assert (sides.left, sides.right) == ("tuned", "python on h100")
    assert default_sides(variants, ["tuned"]) == default_sides(variants)


@pytest.mark.parametrize(
    ("shown", "variants", "other"),
    [
        (TUNED, [PYTHON, CPP, TUNED_CPP, TUNED], "tuned cpp"),
        (CPP, [PYTHON, CPP, TUNED_CPP, TUNED], "python"),
        (TUNED, [CPP, TUNED], "cpp"),
        (PYTHON, [PYTHON], None),
        (PYTHON, [PYTHON, CPP_H100], None),
        (CPP, [AOT_EAGER, CPP], None),
        (EAGER, [EAGER, PYTHON, CPP], None),
        (CELL_WITH_CPP, [CPP, CELL_WITH_CPP], None),
        (PYTHON, [PYTHON, CELL_WITH_CPP], "in the cell"),
    ],
)
def test_the_wrapper_to_compare(
    shown: VariantReport, variants: list[VariantReport], other: str | None
) -> None:
    partner = other_wrapper(variants, shown)
    assert (partner.name if partner else None) == other


def test_a_wrapper_of_the_cell_is_known_by_its_code() -> None:
    assert has_cpp_wrapper(CELL_WITH_CPP)
    assert not has_cpp_wrapper(IN_CELL)


def test_nothing_stands_beside_the_only_variant() -> None:
    assert other_side([EAGER, PYTHON], PYTHON) is None
