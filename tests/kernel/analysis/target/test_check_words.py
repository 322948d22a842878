"""The check of a target's kernels, in words."""

from __future__ import annotations

import pytest
from compilescope.analysis.target.check_words import add_check_words, checked, outcome
from compilescope.report import Compilation, Kernel, KernelCheck, VariantReport
from compilescope.report.variant import Variant

AGREES = KernelCheck(outcome="agrees", how="Interpreted", launches=2, error=1e-7, tolerance=1e-5)
EQUAL = KernelCheck(outcome="agrees", launches=1)
DIFFERS = KernelCheck(outcome="differs", why="At [0, 1].", error=0.5)
LEFT_OUT = KernelCheck(outcome="not checked", why="It is a library's.")


def variant_of(*checks: KernelCheck | None) -> VariantReport:
    kernels = [Kernel(name="k", language="triton", check=check) for check in checks]
    compilation = Compilation(id="0/0", kernels=kernels)
    return VariantReport(name="v", requested=Variant(), compilations=[compilation])


@pytest.mark.parametrize(
    ("check", "words", "text"),
    [
        (
            AGREES,
            "agrees, within 1.0e-07",
            "Interpreted · 2 launches compared · largest error 1.0e-07, tolerance 1.0e-05",
        ),
        (EQUAL, "agrees", "1 launch compared"),
        (DIFFERS, "differs: At [0, 1].", "At [0, 1]. · largest error 0.50"),
        (LEFT_OUT, "not checked: It is a library's.", "It is a library's."),
    ],
)
def test_a_check_has_its_outcome_and_a_line_with_the_rest(check, words, text) -> None:
    add_check_words(variant_of(check))
    assert (outcome(check), check.text) == (words, text)


def test_the_checks_of_a_variant_are_counted() -> None:
    assert checked(variant_of(AGREES, LEFT_OUT, None)) == (
        "Kernels checked without the device: 1 agree, 1 not checked (Interpreted)"
    )
    assert checked(variant_of(None)) == ""
