"""The sources of a report are what torch itself generates for the call."""

from __future__ import annotations

import pytest
from compilescope.report.variant import Variant

from .stage_subjects import CHEAP
from .stages import of_sources, of_torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


@pytest.mark.parametrize("name", CHEAP)
def test_sources_are_what_torch_generates(name):
    make, variant = CHEAP[name], Variant()
    expected = of_torch(make, variant)
    assert expected
    assert of_sources(make, variant) == expected


def test_sources_with_saved_sizes_are_what_torch_generates():
    variant = Variant(dynamic=True)
    make = CHEAP["retained_outside"]
    assert of_sources(make, variant) == of_torch(make, variant)
