"""Estimates for devices that are not there, in the Overview."""

from __future__ import annotations

import copy

import compilescope as cs
from compilescope.analysis.overview.overview import overview
from compilescope.analysis.target.roofline import estimate
from compilescope.report import (
    Report,
    TargetReport,
    VariantReport,
    devices,
)
from compilescope.report.variant import Variant

from .overview_reports import REPORTS, make_report

H100 = next(device for device in devices.DEVICES if device.target == "h100")


def targeted(kernels_us: float) -> Report:
    """A report with an estimate for a GPU that is not there, beside measurements."""
    report = make_report(eager=60.0, python=40.0)
    result = estimate([], H100)
    result.kernels_us, result.launch_us, result.launches = kernels_us, 11.0, 1
    result.call_us = max(result.kernels_us, result.launch_us)
    report.variants.append(
        VariantReport(
            name="h100",
            requested=Variant(target="h100"),
            target=TargetReport(name="h100", device=H100, estimate=result),
        )
    )
    return report


def test_an_estimate_stands_apart_and_is_no_less_than_a_launch() -> None:
    result = overview(targeted(0.0003))
    assert [item.variant for item in result.results] == ["eager", "python"]
    (target,) = result.targets
    assert (target.device, target.call_us) == ("H100 SXM", 11.0)
    assert target.text == "≥ 11.0 µs a call, limited by launches"
    assert overview(targeted(500.0)).targets[0].call_us == 500.0
    only = targeted(0.0003)
    only.variants = only.variants[-1:]
    assert overview(only).headline == (
        "Estimated for H100 SXM, not measured: ≥ 11.0 µs a call, limited by launches."
    )
    both = copy.deepcopy(only)
    both.variants += copy.deepcopy(only.variants)
    (_, cpp) = both.variants
    cpp.name, cpp.requested = "cpp on h100", Variant(cpp_wrapper=True, target="h100")
    assert cpp.target is not None
    assert cpp.target.estimate is not None
    cpp.target.estimate.call_us = 8.0
    assert overview(both).headline == (
        "Estimated for the C++ wrapper on H100 SXM, not measured: ≥ 8.00 µs a call, "
        "limited by launches."
    )


def test_an_estimate_says_how_many_launches_are_not_counted() -> None:
    report = targeted(0.0003)
    target = report.variants[-1].target
    assert target is not None
    assert target.estimate is not None
    target.estimate.launches, target.estimate.unknown = 3, 1
    assert overview(report).targets[0].text == "≥ 11.0 µs a call, 1 of 3 launches not counted"
    target.estimate.kernels_us = target.estimate.call_us = 500.0
    assert overview(report).targets[0].text == (
        "≥ 500 µs a call, limited by kernels, 1 of 3 launches not counted"
    )


def test_a_change_for_a_target_has_the_estimate_of_the_variant_that_has_it() -> None:
    report = cs.load(REPORTS / "targets.compilescope.json")
    (cpp,) = [
        suggestion
        for suggestion in overview(report).suggestions
        if suggestion.what == "C++ wrapper"
    ]
    assert (cpp.gain, cpp.basis) == ("not estimated", "unknown")
    tried = copy.deepcopy(report.variant("python on h100"))
    tried.name = "cpp on h100"
    tried.requested = Variant(cpp_wrapper=True, target="h100")
    assert tried.target is not None
    assert tried.target.estimate is not None
    tried.target.estimate.call_us = 16.0
    report.variants.append(tried)
    result = overview(report)
    (cpp,) = [suggestion for suggestion in result.suggestions if suggestion.what == "C++ wrapper"]
    assert cpp.gain == "about 16.0 µs instead of 22.0 µs per call"
    assert (cpp.basis, cpp.variant) == ("estimated", "cpp on h100")
    assert [target.title for target in result.targets] == [
        "Python wrapper on H100 SXM",
        "Python wrapper on Instinct MI300X",
        "C++ wrapper on H100 SXM",
    ]
    tried.target.estimate.call_us = 23.0
    assert "C++ wrapper" not in [suggestion.what for suggestion in overview(report).suggestions]
