"""What the Overview says of a kernel that takes most of the kernels' time."""

from __future__ import annotations

import pytest
from compilescope.analysis.overview.bounds import add_words
from compilescope.analysis.overview.overview import overview
from compilescope.report import Kernel, Launch, LaunchTime, Report, SourceLine
from compilescope.report.variant import Variant

from .overview_reports import limit_of, look, make_report, suggestion_of

DROPOUT = ["prims.inductor_lookup_seed.default", "prims.inductor_random.default", "aten.gt.Scalar"]
SOFTMAX = ["aten.amax.default", "aten.exp.default", "aten.sum.dim_IntList", "aten.div.Tensor"]


def timed(
    name: str,
    ops: list[str],
    us: float,
    compute: float,
    direction: str = "forward",
    bandwidth: float = 0.001,
) -> Kernel:
    time = LaunchTime(us=us, bandwidth_share=bandwidth, compute_share=compute, cached=True)
    launch = Launch(artifact="python", variant="python", line=1, end=1, key=name, time=time)
    where = SourceLine(file="train.py", line=9, function="forward", code="y = attention(x)")
    kernel = Kernel(name=name, language="cpp", ops=ops, launches=[launch], sources=[where])
    kernel.direction = direction  # type: ignore[assignment]
    return kernel


def of_kernels(*kernels: Kernel, eager: float = 60.0) -> Report:
    report = make_report(eager=eager, python=90.0)
    report.variant("python").compilations[0].kernels = list(kernels)
    look(report, "python", guards=10.0, wrapper=10.0, kernels=70.0)
    return report


def test_a_slow_kernel_decides_what_limits_a_call_instead_of_the_average() -> None:
    report = of_kernels(
        timed("cpp_fused_dropout_0", DROPOUT, 40.0, 0.001),
        timed("extern_kernels.mm", ["aten.mm.default"], 30.0, 0.9),
        timed("cpp_fused_sum_1", ["aten.sum.default"], 20.0, 0.2, "backward"),
    )
    python = report.variant("python")
    assert python.verdict is not None
    assert python.verdict.bound == "unclear"
    assert python.verdict.evidence == (
        "Kernels take 78 % of 90.0 µs. cpp_fused_dropout_0 takes 57 % of the forward's kernel "
        "time: it draws random numbers and computes gt (train.py:9) and reaches 0.1 % of the "
        "arithmetic peak."
    )
    add_words(python)
    assert python.verdict.title == "one slow kernel"
    limit = limit_of(report)
    assert limit.headline == (
        "One slow kernel: cpp_fused_dropout_0 takes 57 % of the forward's kernel time."
    )


@pytest.mark.parametrize(
    ("kernels", "why"),
    [
        ([timed("a", SOFTMAX, 40.0, 0.4), timed("b", ["aten.mm.default"], 30.0, 0.9)], "near"),
        ([timed("a", SOFTMAX, 20.0, 0.1), timed("b", ["aten.mm.default"], 30.0, 0.9)], "short"),
        ([timed("a", SOFTMAX, 70.0, 0.1)], "alone"),
        ([timed("a", SOFTMAX, 24.0, 0.1), timed("b", SOFTMAX, 20.0, 0.1)], "brief"),
        (
            [timed("a", SOFTMAX, 40.0, 0.01, bandwidth=1.4), timed("b", SOFTMAX, 30.0, 0.1)],
            "in cache",
        ),
    ],
)
def test_other_kernels_leave_the_verdict_to_the_average(kernels: list[Kernel], why: str) -> None:
    verdict = of_kernels(*kernels).variant("python").verdict
    assert verdict is not None
    assert " takes " not in verdict.evidence, why


def test_many_calls_of_a_library_function_are_no_slow_kernel() -> None:
    many = timed("extern_kernels.convolution", ["aten.convolution.default"], 30.0, 0.1)
    many.language = "extern"
    many.launches *= 3
    verdict = of_kernels(many, timed("b", SOFTMAX, 30.0, 0.1)).variant("python").verdict
    assert verdict is not None
    assert " takes " not in verdict.evidence
    many.launches = [many.launches[0]]
    many.launches[0].time = LaunchTime(us=90.0, bandwidth_share=0.01, compute_share=0.01)
    verdict = of_kernels(many, timed("b", SOFTMAX, 30.0, 0.1)).variant("python").verdict
    assert verdict is not None
    assert "extern_kernels.convolution takes 75 % of the" in verdict.evidence


def test_eagers_generator_is_suggested_for_random_numbers_on_a_cpu() -> None:
    kernels = [
        timed("cpp_fused_dropout_0", DROPOUT, 40.0, 0.001),
        timed("extern_kernels.mm", ["aten.mm.default"], 30.0, 0.9),
    ]
    report = of_kernels(*kernels)
    item = overview(report).suggestions[0]
    assert item.what == "Draw random numbers with eager's generator"
    assert item.gain.startswith("up to 40.0 µs (4")
    assert item.requested == Variant(options={"fallback_random": True})
    assert item.code == "compiled = torch.compile(fn, options={'fallback_random': True})"
    assert "one more library call" in item.why
    # Kernels that alone take longer than eager do not get faster with more of them in a call.
    assert suggestion_of(report, "Do not compile").what == "Do not compile this call"
    for kernel in kernels[:1]:
        kernel.ops = SOFTMAX
    report = of_kernels(*kernels)
    assert not [item for item in overview(report).suggestions if "random" in item.what]
    verdict = report.variant("python").verdict
    assert verdict is not None
    assert "it computes amax, exp, sum and more (train.py:9)" in verdict.evidence
