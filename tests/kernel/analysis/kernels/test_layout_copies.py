"""Kernels that only copy an input of a library call, or its result, into another layout."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.analysis.kernels.estimates.copied_pointers import copied_pointers
from compilescope.analysis.kernels.estimates.library_inputs import moves_only
from compilescope.analysis.overview.overview import overview
from compilescope.report import Kernel, Launch
from compilescope.report.compilation.artifacts import Language
from compilescope.targets import known_devices
from compilescope.views.rows import plans

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
    # The second weight has 16 output channels, the first one 8.
    assert relu[1].estimated_bytes == 2 * FLOAT * IMAGE + 2 * FLOAT * 2 * WEIGHT
    assert relu[1].estimated_operations == IMAGE
    assert result[1].estimated_bytes == 2 * FLOAT * WIDE
    assert [kernel.fusion.kind for kernel, _ in (inputs, relu, result) if kernel.fusion] == [
        "layout",
        "pointwise",
        "layout",
    ]
    for kernel, launch in (inputs, result):
        assert launch.estimated_operations == 0
        assert plans.fusion(kernel) == ["It computes no operator, only changes a layout"]


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
def test_a_copied_weight_is_counted_without_the_node_of_another_copy() -> None:
    """torch names the copy of the input for the kernel that copies the weight, too."""
    report = cs.inspect(
        lambda x, weight: torch.nn.functional.conv2d(
            x.contiguous(memory_format=torch.channels_last), weight
        ),
        (torch.randn(2, 16, 8, 8), torch.randn(16, 16, 3, 3)),
        variants={"python": cs.Variant(), "h200": cs.Variant(target="h200")},
        run=False,
    )
    image, weight = 2 * 16 * 8 * 8, 16 * 16 * 3 * 3
    both = launched(report, "python")[0]
    assert both[1].estimated_bytes == 2 * FLOAT * (image + weight)
    copies = [launch.estimated_bytes for _, launch in launched(report, "h200")[:2]]
    assert copies == [2 * FLOAT * image, 2 * FLOAT * weight]


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


def test_weights_in_channels_last_are_advised_and_not_copied() -> None:
    """The advice is on weights that each call copies; followed, none is copied and it is gone."""
    layers = [torch.nn.Conv2d(16, 16, 3, padding=1).requires_grad_(False) for _ in range(3)]
    net = torch.nn.Sequential(*layers)
    variants = {"python": cs.Variant()}
    if not known_devices.unavailable():
        variants["h200"] = cs.Variant(target="h200")
    for is_followed in (False, True):
        report = cs.inspect(net, (torch.randn(2, 16, 8, 8),), variants=variants, run=False)
        codes = [each.code for each in overview(report).suggestions]
        advice = "net.to(memory_format=torch.channels_last)"
        assert (advice in codes) is not is_followed
        for variant in report.variants:
            (compilation,) = variant.compilations
            copied = [change.bytes for change in compilation.layouts if change.inserted]
            weights = [9 * 16 * 16 * FLOAT] * 3
            assert [size for size in copied if size in weights] == ([] if is_followed else weights)
        net.to(memory_format=torch.channels_last)


def test_each_copied_weight_is_named_whichever_kernel_copies_it() -> None:
    """The weights are alike: the copy of each is that of its own argument."""
    layers = [torch.nn.Conv2d(16, 16, 3, padding=1).requires_grad_(False) for _ in range(4)]
    net = torch.nn.Sequential(*(part for layer in layers for part in (layer, torch.nn.ReLU())))
    variants = {"python": cs.Variant(), "cpp": cs.Variant(cpp_wrapper=True)}
    report = cs.inspect(net, (torch.randn(2, 16, 8, 8),), variants=variants, run=False)
    for variant in report.variants:
        (compilation,) = variant.compilations
        strides = "(144, 9, 3, 1)"
        weights = {
            buffer.name
            for buffer in compilation.memory[0].buffers
            if buffer.kind == "input" and buffer.shape == ["16", "16", "3", "3"]
        }
        copies = [change.node for change in compilation.layouts if change.old == strides]
        assert len(weights) == 4
        assert sorted(copies) == sorted(weights)


CPP = """
extern "C"  void  kernel(float* in_out_ptr0, const float* in_ptr0, const float* in_ptr1,
                         float* out_ptr0)
{
    #pragma omp parallel num_threads(2)
    {
        {
            #pragma omp for
            for(int64_t x0=0L; x0<64L; x0+=16L)
            {
                auto tmp0 = at::vec::Vectorized<float>::loadu(in_out_ptr0 + x0, 16);
                auto tmp1 = at::vec::Vectorized<float>::loadu(in_ptr0 + x0, 16);
                auto tmp2 = tmp0 + tmp1;
                tmp2.store(in_out_ptr0 + x0);
            }
        }
        {
            for(int64_t x0=0L; x0<8L; x0+=1L)
            {
                for(int64_t x1=0L; x1<9L; x1+=1L)
                {
                    auto tmp0 = in_ptr1[static_cast<int64_t>(x1 + 9L*x0)];
                    out_ptr0[static_cast<int64_t>(x0 + 8L*x1)] = tmp0;
                }
            }
        }
    }
}
"""
TRITON = """
def triton_poi_fused_0(in_ptr0, in_ptr1, out_ptr0, out_ptr1, xnumel, XBLOCK : tl.constexpr):
    tmp0 = tl.load(in_ptr0 + (x0 + 9*x1), xmask, eviction_policy='evict_last')
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    tmp2 = tmp0 + tmp1
    tl.store(out_ptr0 + (x1 + 8*x0), tmp0, xmask)
    tl.store(out_ptr1 + (x0), tmp2, xmask)
"""


@pytest.mark.parametrize(
    ("language", "source", "copies"),
    [("cpp", CPP, {"out_ptr0": "in_ptr1"}), ("triton", TRITON, {"out_ptr0": "in_ptr0"})],
)
def test_a_copy_beside_other_work_is_read_from_the_source(
    language: Language, source: str, copies: dict[str, str]
) -> None:
    assert copied_pointers(Kernel(name="k", language=language, source=source)) == copies


def test_a_sum_is_no_copy_and_an_output_may_have_a_second_name() -> None:
    """A layer norm first sums its input into the memory where its mean will be."""
    norm = torch.nn.LayerNorm(64)
    variants = {"a": cs.Variant(dynamic=True)}
    x = torch.randn(48, 64)
    report = cs.inspect(lambda x: norm(x) + x.sum(), (x,), variants=variants, run=False)
    kernel = report.variants[0].compilations[0].kernels[0]
    assert "auto out_ptr1 = in_out_ptr0;" in kernel.source
    assert "tmp_acc0 = tmp_acc0 + " in kernel.source
    assert copied_pointers(kernel) == {}
    assert not moves_only(kernel)
