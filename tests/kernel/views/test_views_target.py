"""A GPU that is not there in the views: what was reckoned is marked, and nothing looks measured."""

from __future__ import annotations

import pytest
from compilescope.analysis.kernels.launch_times import add_launch_times
from compilescope.analysis.overview.overview import overview
from compilescope.report import (
    Decision,
    Estimate,
    Fusion,
    Kernel,
    KernelCheck,
    KernelConfig,
    Launch,
    Report,
    TargetReport,
    VariantReport,
    Verdict,
    devices,
)
from compilescope.report.variant import Variant
from compilescope.views import wrapper_pairs
from compilescope.views.html import report as html
from compilescope.views.text import report as text

from ..views_report import CELL, report
from .test_views_html import EVIL, Page

H100 = next(device for device in devices.DEVICES if device.target == "h100")
MI300X = next(device for device in devices.DEVICES if device.target == "mi300x")
SASS = "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;\nEXIT ;\n"


def targeted() -> Report:
    """The report of the views' tests, made for two GPUs that are not there."""
    result = report()
    result.problems, result.variants = [], result.variants[1:]
    for variant, device in zip(result.variants, (H100, MI300X), strict=True):
        variant.name = f"python on {device.target}"
        variant.requested = Variant(target=device.target)
        variant.stage, variant.problems, variant.effective = "sources", [], []
        variant.timing = variant.compile_time = None
        variant.accuracy = []
        estimate = Estimate(
            kernels_us=20.12,
            launch_us=22.0,
            launches=2,
            unknown=1,
            bytes=6.7e7,
            operations=1.2e6,
            how="Estimated, not measured.",
            call_us=22.0,
        )
        variant.target = TargetReport(name=device.target, device=device, estimate=estimate)
        variant.verdict = Verdict(bound="cpu", evidence="Estimated: starting.", estimated=True)
        compiled = variant.compilations[0]
        compiled.breaks, compiled.recompile, compiled.guards = [], None, []
        compiled.kernels = [_kernel(), _library()]
        add_launch_times([compiled], device.name)
        compiled.decisions = [
            Decision(
                kind="dispatch",
                operator="aten.sdpa",
                chosen="flash attention",
                rule="Short floats and small heads.",
                instead="torch asks the device.",
                sources=[CELL],
            )
        ] * 2
    result.variants[1].compilations[0].code.python = result.variants[0].compilations[0].code.python
    result.variants[1].compilations[0].code.cpp = None
    return result


def _launch(line: int) -> Launch:
    return Launch(
        artifact="python", variant="v", line=line, end=line, key=f"launch:inference:{line}"
    )


def _kernel() -> Kernel:
    launch = _launch(8)
    launch.estimated_us, launch.estimated_bound = 20.12, "memory"
    return Kernel(
        name="triton_poi_fused_add_0",
        language="triton",
        launches=[launch],
        assembly={"ptx": ".version 8.7\n", "sass": SASS},
        resources={
            "registers": 32,
            "spills": 0,
            "shared_bytes": 4096,
            "warps": 4,
            "occupancy": 0.5,
        },
        limit="registers",
        fusion=Fusion(nodes=2, saved_bytes=4096.0),
        configs=[
            KernelConfig(name="XBLOCK=128", usual=True),
            KernelConfig(
                name="XBLOCK=512", resources={"registers": 64, "spills": 2048, "occupancy": 0.25}
            ),
            KernelConfig(name="XBLOCK=9999", why="It is out of shared memory."),
        ],
        check=KernelCheck(outcome="agrees", error=1e-7, how="Triton's interpreter"),
    )


def _library() -> Kernel:
    return Kernel(
        name="extern_kernels.mm",
        language="extern",
        launches=[_launch(10)],
        check=KernelCheck(outcome="not checked", why="It is a library's."),
    )


def test_the_text_marks_estimates() -> None:
    shown = text.render(targeted(), width=120)
    for line in (
        "python on h100    target=h100    1 kernel compiled, not run",
        "≥ 22.0 µs a call",
        "Nothing ran there: times are estimates.",
        "80 GiB · 3.35 TB/s",
        "(2 launches, 67 MB, 1.2 M operations, 1 not counted)",
        "Estimated: starting.",
        "Kernels checked without the device: 1 agree, 1 not checked (Triton's interpreter)",
        "decided: Kernel of an operator, aten.sdpa (2 times): flash attention  (cell line 3)",
        "On the device: torch asks the device.",
        "agrees, within 1.0e-07",
        "not checked: It is a library's.",
    ):
        assert line in shown, shown
    assert "target h100: H100 SXM" in shown
    assert "target mi300x: Instinct MI300X" in shown
    row = next(line for line in shown.splitlines() if "50 % (registers)" in line)
    figures = (
        "Triton 1 2 ≈ 4.00 KiB ≥ 20.1 µs memory 32 0 B 4.00 KiB 4 50 % (registers) "
        "agrees, within 1.0e-07"
    )
    assert " ".join(row.split()) == f"{figures} triton_poi_fused_add_0"
    assert "median" not in shown


def test_the_text_says_how_to_see_the_assembly() -> None:
    report = targeted()
    shown = text.render(report)
    step = next(line for line in shown.splitlines() if 'assembly["sass"]' in line)
    assert eval(step.split("  ")[0], {"report": report}) == SASS


def test_a_cell_has_the_figures_and_the_page_the_assembly() -> None:
    cell, page = Page(html.render(targeted())), Page(html.render(targeted(), full=True))
    for shown in (cell.text, page.text):
        assert "Target H100 SXM" in shown
        assert "≥ 22.0 µs a call" in shown
        assert "Decided without the device" in shown
        assert "Cannot be compiled: It is out of shared memory." in shown
        assert (
            "Registers per thread: 64 · Register spills per thread: 2.00 KiB · Occupancy: 25 %"
            in shown
        )
        assert "median" not in shown
    assert "EXIT" not in cell.text
    assert "EXIT" in page.text


def test_what_the_device_says_is_never_markup() -> None:
    report = targeted()
    for variant in report.variants:
        compiled = variant.compilations[0]
        compiled.kernels[0].name = compiled.kernels[0].assembly["sass"] = EVIL
        compiled.kernels[0].limit = compiled.kernels[0].configs[-1].why = EVIL
        compiled.decisions[0].rule = compiled.decisions[0].chosen = EVIL
        assert variant.target is not None
        variant.target.absent["assembly"] = EVIL
    for full in (False, True):
        assert "script" not in Page(html.render(report, full=full)).tags


def test_wrappers_of_two_targets_stand_side_by_side() -> None:
    (pair,) = wrapper_pairs.pairs(targeted())
    assert pair.left is not None
    assert pair.right is not None
    assert (pair.left.variant, pair.right.variant) == ("python on h100", "python on mi300x")


def test_a_wrapper_stands_beside_one_with_the_same_settings() -> None:
    result = report()
    tuned = VariantReport(
        name="tuned cpp",
        requested=Variant(cpp_wrapper=True, mode="max-autotune"),
        compilations=result.variants[2].compilations,
    )
    result.variants.insert(1, tuned)
    (pair,) = wrapper_pairs.pairs(result)
    assert (pair.left.variant, pair.right.variant) == ("python", "cpp")
    (pair,) = wrapper_pairs.pairs(result, right="tuned cpp")
    assert (pair.left.variant, pair.right.variant) == ("python", "tuned cpp")


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ({"left": "cpp"}, ("cpp", "python")),
        ({"right": "python"}, ("cpp", "python")),
        ({"left": "eager"}, (None, "python")),
    ],
)
def test_the_side_that_is_not_named_has_the_other_wrapper(
    sides: dict[str, str], expected: tuple[str | None, str]
) -> None:
    (pair,) = wrapper_pairs.pairs(report(), **sides)
    assert (pair.left and pair.left.artifact, pair.right and pair.right.artifact) == expected


def test_a_c_plus_plus_wrapper_alone_stands_on_the_right() -> None:
    result = report()
    del result.variants[1]
    (pair,) = wrapper_pairs.pairs(result)
    assert pair.left is None
    assert pair.right.variant == "cpp"


def test_a_wrapper_stands_beside_one_for_the_same_device() -> None:
    result = report()
    other = VariantReport(
        name="cpp on h100",
        requested=Variant(cpp_wrapper=True, target="h100"),
        compilations=result.variants[2].compilations,
    )
    result.variants[2:] = [other]
    (pair,) = wrapper_pairs.pairs(result)
    assert pair.left is not None
    assert pair.left.variant == "python"
    assert pair.right is None
    assert result.compilation("0/0").code.cpp is None


@pytest.mark.parametrize(
    ("compiled", "words"),
    [
        ([False], "sources only"),
        ([True, True], "2 kernels compiled, not run"),
        ([True, False], "1 of 2 kernels compiled, not run"),
    ],
)
def test_a_variant_for_a_target_never_looks_built(compiled: list[bool], words: str) -> None:
    report = targeted()
    for variant in report.variants:
        kernels = [_kernel() for _ in compiled]
        variant.compilations[0].kernels = [*kernels, _library()]
        for kernel, has_assembly in zip(kernels, compiled, strict=True):
            kernel.assembly = kernel.assembly if has_assembly else {}
    shown = text.render(report)
    assert "built" not in shown
    assert f"target=h100    {words}" in shown


def test_without_a_time_of_a_call_there_is_no_estimate() -> None:
    report = targeted()
    for variant in report.variants:
        assert variant.target is not None
        assert variant.target.estimate is not None
        variant.target.estimate.call_us = None
    shown = text.render(report)
    assert "no estimate (2 launches" in shown
    assert "limited by" not in shown
    assert [target.text for target in overview(report).targets] == ["no estimate"] * 2
