"""What the rows of a first call's settings say of those without a figure."""

from __future__ import annotations

import compilescope as cs
from compilescope.report import ColdSwitch, VariantReport
from compilescope.report.problem import Problem
from compilescope.views.rows import cold


def test_only_a_setting_that_was_not_measured_has_a_reason() -> None:
    settings = [
        ColdSwitch(switch="both", label="both", cold_s=10.0, warm_s=1.0, how="One call each."),
        ColdSwitch(switch="warm", label="warm", warm_s=1.0),
        ColdSwitch(switch="idle", label="idle", why="There is no compiler."),
        ColdSwitch(switch="none", label="none"),
        ColdSwitch(
            switch="ended",
            label="ended",
            cold_s=1.0,
            problem=Problem(severity="error", what="It crashed."),
        ),
    ]
    variant = VariantReport(name="python", requested=cs.Variant(), cold=settings)
    assert cold.remarks(variant) == [
        "idle: There is no compiler.",
        "none: not measured",
        "ended: It crashed.",
        "One call each.",
    ]
