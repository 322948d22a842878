"""The sources of a report are what torch itself generates for the call."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import pytest
from compilescope.report.variant import Variant

from .. import fidelity_subjects
from .library_subjects import LIBRARY
from .stage_subjects import CHEAP
from .stages import of_sources, of_torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

ON_CPU = [
    name
    for name in fidelity_subjects.CASES
    if (needs := fidelity_subjects.NEEDS.get(name)) is None or importlib.util.find_spec(needs)
]


BOTH = Variant(), Variant(cpp_wrapper=True)


@pytest.mark.parametrize("name", CHEAP)
def test_sources_are_what_torch_generates(name):
    expected = [of_torch(CHEAP[name], variant) for variant in BOTH]
    assert all(expected)
    assert of_sources(CHEAP[name], *BOTH) == expected


def test_sources_with_saved_sizes_are_what_torch_generates():
    variant = Variant(dynamic=True)
    make = CHEAP["retained_outside"]
    assert of_sources(make, variant) == [of_torch(make, variant)]


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARY)
def test_sources_of_torchs_own_library_are_what_torch_generates(name: str) -> None:
    expected = [of_torch(LIBRARY[name], variant) for variant in BOTH]
    assert all(expected)
    assert of_sources(LIBRARY[name], *BOTH) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ON_CPU)
def test_sources_of_every_subject_are_what_torch_generates(name: str) -> None:
    make = fidelity_subjects.Make("cpu")

    def call() -> tuple[Callable[..., Any], tuple[Any, ...]]:
        case = fidelity_subjects.CASES[name](make)
        return case.fn, case.args

    variant = fidelity_subjects.CASES[name](make).variant
    expected = of_torch(call, variant)
    assert expected
    assert of_sources(call, variant) == [expected]
