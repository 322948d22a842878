"""How many kernels of a variant differ from another's, in words."""

from __future__ import annotations

import pytest
from compilescope.analysis.changes.variants import compare
from compilescope.report import Compilation, Kernel, VariantReport
from compilescope.report.variant import Variant


def with_kernels(**sources: str) -> VariantReport:
    kernels = [
        Kernel(name=name, language="cpp", source=source, nodes=[name])
        for name, source in sources.items()
    ]
    compilations = [Compilation(id="0/0", kernels=kernels)]
    return VariantReport(name="python", requested=Variant(), compilations=compilations)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"f": "1"}, {"f": "1"}, "the only kernel is identical"),
        ({"f": "1"}, {"f": "2"}, "the only kernel differs"),
        ({"f": "1"}, {}, "the only kernel is removed"),
        ({}, {"f": "1"}, "the only kernel is new"),
        ({"f": "1", "g": "2"}, {"f": "1", "g": "2"}, "both kernels are identical"),
        ({"f": "1", "g": "2"}, {"f": "3", "g": "4"}, "both kernels differ"),
        ({"f": "1", "g": "2"}, {"f": "1"}, "the only kernel is identical, 1 is removed"),
        ({"f": "1", "g": "2"}, {"f": "1", "g": "3"}, "1 of 2 kernels is identical, 1 differs"),
        (
            dict(zip("abc", "123", strict=True)),
            dict(zip("abc", "123", strict=True)),
            "all 3 kernels are identical",
        ),
        ({}, {}, "no kernels in either"),
    ],
)
def test_kernels_are_counted_in_grammatical_words(
    before: dict[str, str], after: dict[str, str], words: str
) -> None:
    summary = compare(with_kernels(**before), with_kernels(**after)).summary
    assert summary.startswith(f"Compared with python: {words}")
    assert summary[len(f"Compared with python: {words}")] in ".;"
