"""The stage of a variant in words."""

from __future__ import annotations

import pytest
from compilescope.analysis.figures.stages import stage_words
from compilescope.report import TargetReport, VariantReport, devices
from compilescope.report.variant import Variant

EAGER, COMPILED, TARGET = Variant(backend=None), Variant(), Variant(target="h100")
H100 = next(device for device in devices.DEVICES if device.target == "h100")


@pytest.mark.parametrize(
    ("requested", "stage", "words"),
    [
        (EAGER, "sources", "not run"),
        (EAGER, "built", "run"),
        (EAGER, "failed", "failed"),
        (COMPILED, "captured", "graphs captured"),
        (COMPILED, "sources", "sources only"),
        (COMPILED, "built", "built and run"),
        (COMPILED, "failed", "failed"),
        (TARGET, "captured", "graphs captured"),
        (TARGET, "sources", "sources only"),
        (TARGET, "failed", "failed"),
    ],
)
def test_a_stage_is_a_few_words(requested, stage, words) -> None:
    variant = VariantReport(name="v", requested=requested, stage=stage)
    if requested.target is not None:
        variant.target = TargetReport(name=requested.target, device=H100)
    assert stage_words(variant) == words
