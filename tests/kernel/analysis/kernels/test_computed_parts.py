"""The parts of a node that several kernels compute: split reductions, biases of convolutions."""

from __future__ import annotations

from collections.abc import Callable

import compilescope as cs
import pytest
import torch
from compilescope.analysis.kernels.estimates.computed_parts import ComputedParts
from compilescope.analysis.kernels.estimates.estimates import estimate
from compilescope.analysis.kernels.estimates.kernel_graph import KernelGraph
from compilescope.report import Kernel, Launch, Node
from compilescope.targets import known_devices

FLOAT = 4
generates = pytest.mark.skipif(
    bool(known_devices.unavailable()), reason=known_devices.unavailable()
)


def kernels_of(fn: Callable[..., object], *args: torch.Tensor, **options: bool) -> list[Kernel]:
    variant = cs.Variant(target="h200", **options)
    report = cs.inspect(fn, args, variants={"h200": variant}, run=False)
    return [kernel for each in report.variants[0].compilations for kernel in each.kernels]


def estimates(kernels: list[Kernel]) -> list[tuple[float | None, float | None]]:
    return [(kernel.estimated_bytes, kernel.estimated_operations) for kernel in kernels]


@pytest.mark.slow
@generates
@pytest.mark.parametrize("cpp_wrapper", [False, True])
def test_stages_of_a_reduction_count_it_once(cpp_wrapper: bool) -> None:
    size = 10**8
    kernels = kernels_of(lambda x: x.sum(), torch.empty(size), cpp_wrapper=cpp_wrapper)
    partial = FLOAT * int(kernels[0].grid.partition("xnumel=")[2].partition(",")[0])
    assert partial < size
    assert estimates(kernels) == [(FLOAT * size + partial, size), (partial + FLOAT, 0)]


@pytest.mark.slow
@generates
def test_a_later_stage_does_not_compute_the_inputs_of_the_reduction() -> None:
    """The square is the first stage's; the root of the mean is the last one's."""
    size = 10**8
    first, last = kernels_of(lambda x: (x * x).mean().sqrt(), torch.empty(size))
    assert (first.estimated_operations, last.estimated_operations) == (2 * size, 1)
    assert first.estimated_bytes is not None
    assert last.estimated_bytes == first.estimated_bytes - FLOAT * size + FLOAT
    assert last.fusion is not None
    assert last.fusion.nodes == 2


@pytest.mark.slow
@generates
def test_a_kernel_that_reads_a_reduction_does_not_compute_it() -> None:
    """Three partial results for each of 512 parts; the last kernel only normalizes."""
    norm = torch.nn.BatchNorm2d(64)
    size = 64 * 64 * 56 * 56
    first, second, third, _ = kernels_of(lambda x: norm(x).detach(), torch.empty(64, 64, 56, 56))[
        :4
    ]
    partial = 3 * 512 * FLOAT
    assert estimates([first]) == [(FLOAT * size + partial, 4 * size)]
    assert second.estimated_bytes is not None
    assert partial < second.estimated_bytes < partial + 64 * 64
    assert third.estimated_operations == 4 * size + 2 * 64


@pytest.mark.slow
@generates
def test_the_copy_that_a_scatter_updates_counts_apart() -> None:
    """The scatter reads an index, a value and what it adds to, and writes the sum."""
    size, indices, width = 1000, 100, 8
    x, values = torch.empty(size, width), torch.empty(indices, width)
    rows = torch.empty(indices, dtype=torch.int64)
    copy, scatter = kernels_of(
        lambda x, i, v: x.sin().index_put((i,), v * 2, accumulate=True), x, rows, values
    )
    assert estimates([copy]) == [(2 * FLOAT * size * width, size * width)]
    moved = rows.nbytes + 3 * values.nbytes
    assert estimates([scatter]) == [(moved, 2 * indices * width)]
    one = torch.empty(size)
    copy, scatter = kernels_of(
        lambda x, i: x.scatter_add(0, i, torch.ones_like(i, dtype=x.dtype)), one, rows
    )
    assert estimates([copy]) == [(2 * FLOAT * size, 0)]
    assert estimates([scatter]) == [(rows.nbytes + 2 * FLOAT * indices, indices)]


@pytest.mark.slow
@generates
def test_the_zeros_that_a_scatter_updates_are_written() -> None:
    values, rows = torch.empty(100, 8), torch.empty(100, dtype=torch.int64)
    zeros, scatter = kernels_of(
        lambda i, v: v.new_zeros(1000, 8).index_put((i,), v, accumulate=True), rows, values
    )
    assert estimates([zeros]) == [(FLOAT * 1000 * 8, 0)]
    assert estimates([scatter]) == [(rows.nbytes + 3 * values.nbytes, values.numel())]
    assert zeros.fusion is not None
    assert scatter.fusion is not None
    assert (zeros.fusion.saved, scatter.fusion.saved) == ([], [])


@pytest.mark.slow
@generates
@pytest.mark.parametrize("channels_last", [False, True])
@pytest.mark.parametrize("activation", [None, torch.sin, torch.relu])
def test_the_bias_of_a_convolution_is_added_after_it(
    channels_last: bool, activation: Callable[[torch.Tensor], torch.Tensor] | None
) -> None:
    layout = torch.channels_last if channels_last else torch.contiguous_format
    conv = torch.nn.Conv2d(64, 64, 3, padding=1).to(memory_format=layout).requires_grad_(False)
    size, weights = 8 * 64 * 56 * 56, 64 * 64 * 9
    image = torch.empty(8, 64, 56, 56).to(memory_format=layout)
    *_, library, adding = kernels_of(
        lambda x: activation(conv(x)) if activation else conv(x), image
    )
    operators = 1 if activation is None else 2
    assert estimates([library, adding]) == [
        (FLOAT * (2 * size + weights), 2 * size * 64 * 9),
        (FLOAT * (2 * size + 64), operators * size),
    ]
    assert adding.fusion is not None
    assert (adding.fusion.kind, adding.fusion.nodes) == ("pointwise", operators)


@pytest.mark.slow
@generates
def test_each_of_two_convolutions_has_its_bias() -> None:
    """torch maps the first convolution to the launch of the second too, which reads its result."""
    convs = [torch.nn.Conv2d(64, 64, 3, padding=1) for _ in range(2)]
    first, second = (
        conv.to(memory_format=torch.channels_last).requires_grad_(False) for conv in convs
    )
    image = torch.empty(8, 64, 56, 56).to(memory_format=torch.channels_last)
    size = image.numel()
    kernels = kernels_of(lambda x: second(first(x).relu()).sin(), image)
    adding = [kernel for kernel in kernels if kernel.language == "triton"]
    assert adding[0].estimated_operations == 2 * size
    (library,) = [kernel for kernel in kernels if kernel.language == "extern"]
    assert library.estimated_bytes == FLOAT * (2 * size + 64 * 64 * 9)


SOURCE = """
@triton_heuristics.reduction(
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32'}})
def triton_red(in_ptr0, out_ptr0, xnumel):
    x0 = xindex
    r0_1 = r0_index
    tmp0 = tl.load(in_ptr0 + (r0_1 + 512*x0), None)
    tl.store(out_ptr0 + (x0), tmp0, None)
"""


@pytest.mark.parametrize(("grid", "partial"), [("xnumel=8, r0_numel=512", 32), ("", None)])
def test_a_later_stage_of_unknown_size_has_no_bytes(grid: str, partial: int | None) -> None:
    x = Node(name="x", op="placeholder", target="x", users=["s"], shape=["4096"], dtype="float32")
    total = Node(
        name="s",
        op="call_function",
        target="torch.ops.aten.sum.default",
        args="x",
        inputs=["x"],
        users=["output"],
        shape=[],
        dtype="float32",
    )
    output = Node(name="output", op="output", target="output", inputs=["s"])
    wrapper = "red_0.run(x, buf0, 8, 512)\nred_1.run(buf0, buf1, 1, 8)"
    kernels = [
        Kernel(
            name=f"red_{place}",
            language="triton",
            source=SOURCE,
            grid=launch_grid,
            launches=[
                Launch(
                    artifact="python", variant="v", line=place + 1, end=place + 1, key=f"{place}"
                )
            ],
        )
        for place, launch_grid in enumerate([grid, "xnumel=1, r0_numel=8"])
    ]
    parts = ComputedParts(kernels, {"0": ["s"], "1": ["s"]}, [x, total, output], {}, wrapper)
    estimate(KernelGraph(kernels, parts.groups, list(parts.nodes.values()), {}))
    first, last = estimates(kernels)
    assert first == (4096 * FLOAT + (partial or 0), 4096)
    assert last == (None if partial is None else partial + FLOAT, 0)
    if partial is None:
        assert "s (partial results)" in kernels[1].absent["estimated_bytes"]
