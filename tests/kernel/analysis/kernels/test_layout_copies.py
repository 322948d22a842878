"""Kernels that only copy an input of a library call, or its result, into another layout."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.analysis.kernels.library_inputs import moves_only
from compilescope.report import Kernel, Launch
from compilescope.targets import known_devices

pytestmark = pytest.mark.slow
FLOAT = 4
generates = pytest.mark.skipif(
    bool(known_devices.unavailable()), reason=known_devices.unavailable()
)
IMAGE, WIDE = 2 * 8 * 16 * 16, 2 * 16 * 16 * 16
"""The elements of the results of the two convolutions; the input has those of the first."""
WEIGHT = 8 * 8 * 3 * 3


def convolved(x: torch.Tensor, bias: bool) -> cs.Report:
    first = torch.nn.Conv2d(8, 8, 3, padding=1, bias=bias).requires_grad_(False)
    second = torch.nn.Conv2d(8, 16, 3, padding=1, bias=bias).requires_grad_(False)
    return cs.inspect(
        lambda x: second(first(x).relu()),
        (x,),
        variants={
            "python": cs.Variant(),
            "cpp": cs.Variant(cpp_wrapper=True),
            **({} if known_devices.unavailable() else {"h200": cs.Variant(target="h200")}),
        },
        run=False,
    )


@pytest.fixture(scope="module")
def with_bias() -> cs.Report:
    return convolved(torch.randn(2, 8, 16, 16), bias=True)


def launched(report: cs.Report, variant: str) -> list[tuple[Kernel, Launch]]:
    """The launches of generated kernels, in order."""
    (compilation,) = report.variant(variant).compilations
    pairs = [
        (kernel, launch)
        for kernel in compilation.kernels
        if kernel.language != "extern"
        for launch in kernel.launches
        if launch.artifact == ("cpp" if variant == "cpp" else "python")
    ]
    return sorted(pairs, key=lambda pair: pair[1].line)


@pytest.mark.parametrize("variant", ["python", "cpp"])
def test_copies_on_a_cpu_have_the_bytes_of_their_buffers(
    with_bias: cs.Report, variant: str
) -> None:
    """The first kernel copies the input and the weight, the last one the result."""
    inputs, relu, result = launched(with_bias, variant)
    assert inputs[1].estimated_bytes == 2 * FLOAT * (IMAGE + WEIGHT)
    assert relu[1].estimated_operations == IMAGE
    assert result[1].estimated_bytes == 2 * FLOAT * WIDE
    assert [kernel.fusion.kind for kernel, _ in (inputs, relu, result) if kernel.fusion] == [
        "layout",
        "pointwise",
        "layout",
    ]
    for _, launch in (inputs, result):
        assert launch.estimated_operations == 0


@generates
def test_each_kernel_on_a_gpu_has_what_it_computes(with_bias: cs.Report) -> None:
    """A kernel that copies a weight is not said to compute the activation, nor the last one."""
    image, weight, activation, other_weight, bias = launched(with_bias, "h200")
    estimates = [
        (launch.estimated_bytes, launch.estimated_operations)
        for _, launch in (image, weight, activation, other_weight, bias)
    ]
    assert estimates == [
        (2 * FLOAT * IMAGE, 0),
        (2 * FLOAT * WEIGHT, 0),
        (2 * FLOAT * IMAGE + FLOAT * 8, 2 * IMAGE),
        (4 * FLOAT * WEIGHT, 0),
        (2 * FLOAT * WIDE + FLOAT * 16, WIDE),
    ]
    (variant,) = (variant for variant in with_bias.variants if variant.target)
    assert variant.target
    assert variant.target.estimate
    assert variant.target.estimate.unknown == 0
    (compilation,) = variant.compilations
    assert all("estimated_us" not in kernel.absent for kernel in compilation.kernels)


@generates
def test_what_only_a_library_reads_is_written() -> None:
    report = convolved(torch.randn(2, 8, 16, 16), bias=False)
    (activation,) = [
        kernel for kernel, _ in launched(report, "h200") if kernel.estimated_operations == IMAGE
    ]
    assert activation.estimated_bytes == 2 * FLOAT * IMAGE
    assert activation.fusion
    assert (activation.fusion.nodes, activation.fusion.saved) == (1, [])


@generates
def test_what_is_used_again_after_a_library_call_stays() -> None:
    """The sine is computed again for the sum; the kernel reads the input and the product."""
    weight = torch.randn(64, 64)
    report = cs.inspect(
        lambda x: (x.sin() @ weight).relu() + x.sin() * 2,
        (torch.randn(64, 64),),
        variants={"h200": cs.Variant(target="h200")},
        run=False,
    )
    before, after = launched(report, "h200")
    count = 64 * 64
    assert before[1].estimated_bytes == 2 * FLOAT * count
    assert before[1].estimated_operations == count
    assert after[1].estimated_bytes == 3 * FLOAT * count
    assert after[1].estimated_operations == 4 * count


def test_a_kernel_without_source_is_no_copy() -> None:
    assert not moves_only(Kernel(name="extern_kernels.mm", language="extern"))
    assert not moves_only(Kernel(name="k", language="triton"))
