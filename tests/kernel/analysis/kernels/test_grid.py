"""How work is spread, and sizes as numbers: from the texts alone."""

from __future__ import annotations

import pytest
import torch
from compilescope.analysis.graphs.operation_counts import operations
from compilescope.analysis.kernels.grid import grid_of
from compilescope.analysis.text.sizes import UnknownSize, count_of, read_hints, size_of
from compilescope.capture.records import Record
from torch.utils.flop_counter import FlopCounterMode

TRITON = """
@triton_heuristics.reduction(
    triton_meta={'signature': {'in_ptr0': '*fp32', 'out_ptr0': '*fp32', 'xnumel': 'i32', \
'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': None},
    inductor_meta={'grid_type': 'Grid1D', 'kernel_name': 'triton_red_fused_sum_0'},
)
@triton.jit
def triton_red_fused_sum_0(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    r0_numel = 512
"""
PARALLEL = """
    #pragma omp parallel num_threads(2)
    {
        #pragma omp for collapse(2)
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(8L); x0+=static_cast<int64_t>(1L))
        {
            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(ks0); x1+=static_cast<int64_t>(16L))
            {
            }
        }
    }
"""  # noqa: E501 - as Inductor writes it


@pytest.mark.parametrize(
    ("language", "source", "launch", "expected"),
    [
        (
            "triton",
            TRITON,
            "triton_red_fused_sum_0.run(arg0_1, buf0, s0*4, 512, stream=stream0)",
            "xnumel=s0*4, r0_numel=512 (Grid1D)",
        ),
        (
            "triton",
            TRITON,
            "call_triton_red_fused_sum_0(arg0_1, buf0, 64L, 512L, 0, stream0);",
            "xnumel=64, r0_numel=512 (Grid1D)",
        ),
        ("triton", "", "kernel.run(a)", ""),
        ("cpp", PARALLEL, "k(a)", "parallel x0: 8, x1: ks0 by 16"),
        (
            "cpp",
            PARALLEL.replace("#pragma omp for collapse(2)", ""),
            "k(a)",
            "serial x0: 8",
        ),
        ("cpp", "int main() {}", "k(a)", ""),
        ("extern", "", "extern_kernels.mm(a, b, out=c)", ""),
    ],
)
def test_grid(language, source, launch, expected):
    assert grid_of(language, source, launch) == expected


def test_many_loops_are_counted():
    loop = PARALLEL.split("\n")[4]
    loops = "\n".join(loop.replace("8L", f"{n}L") for n in range(2, 9))
    assert grid_of("cpp", loops, "").endswith("x0: 5; and 3 more")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64", 64),
        ("s0", 6),
        ("2*s0 + 1", 13),
        ("(s0//4)", 1),
        ("Max(1, s0 - 8)", 1),
        ("s0**2", 36),
        ("CeilDiv(s0, 4)", 2),
        ("-s0 + 7", 1),
    ],
)
def test_sizes(text, value):
    used: dict[str, int] = {}
    assert size_of(text, {"s0": 6}, used) == value
    assert used == ({"s0": 6} if "s0" in text else {})


@pytest.mark.parametrize("text", ["u0", "s0 +", "s0.real", "__import__('os')", "s0**99", "1//0"])
def test_sizes_that_cannot_be_told(text):
    with pytest.raises(UnknownSize):
        size_of(text, {"s0": 6}, {})


def test_hints_come_from_the_symbols_of_the_compilation():
    def symbol(name: str, value: str) -> Record:
        return Record(
            event="create_symbol", metadata={"create_symbol": {"symbol": name, "val": value}}
        )

    assert read_hints([symbol("s0", "6"), symbol("s1", "None")]) == {"s0": 6}
    assert count_of(["s0", "2"], {"s0": 6}, {}) == 12


@pytest.mark.parametrize(
    ("target", "shape", "arguments", "expected"),
    [
        ("aten.mm.default", (4, 8), [(4, 3), (3, 8)], 2 * 4 * 8 * 3),
        ("aten.addmm.default", (4, 8), [(8,), (4, 3), (3, 8)], 2 * 4 * 8 * 3),
        ("aten.bmm.default", (2, 4, 8), [(2, 4, 3), (2, 3, 8)], 2 * 2 * 4 * 8 * 3),
        (
            "aten.convolution.default",
            (2, 6, 5, 5),
            [(2, 4, 7, 7), (6, 4, 3, 3), None],
            2 * (2 * 6 * 5 * 5) * (4 * 3 * 3),
        ),
        (
            "aten.convolution_backward.default",
            (),
            [(2, 6, 5, 5), (2, 4, 7, 7), (6, 4, 3, 3)],
            2 * 2 * (2 * 6 * 5 * 5) * (4 * 3 * 3),
        ),
        (
            "aten._scaled_dot_product_flash_attention.default",
            (),
            [(2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 8)],
            2 * (2 * 3) * (5 * 7) * (8 + 8),
        ),
        ("aten.addbmm.default", (4, 8), [(8,), (5, 4, 3), (5, 3, 8)], 2 * 5 * 4 * 8 * 3),
        ("aten.add.Tensor", (4, 8), [(4, 8), (8,)], 32),
        ("aten.sum.dim_IntList", (4,), [(4, 8), None], 32),
        ("aten.permute.default", (8, 4), [(4, 8), None], 0),
        ("aten.cummax.default", None, [(4, 8), None], 32),
        ("prims.prepare_softmax_online.default", None, [(4, 8), None], 4 * 32),
        ("aten.scatter_add.default", (9,), [(9,), None, (4,), (5,)], 4),
        (
            "aten._unsafe_masked_index_put_accumulate.default",
            (9, 8),
            [(9, 8), (4, 1), None, (4, 8)],
            4 * 8,
        ),
        ("aten.linalg_vector_norm.default", (), [(4, 8)], 2 * 32),
        ("aten.sort.default", (4,), [(4,)], None),
        ("aten._linalg_svd.default", None, [(4, 4), None], None),
        ("aten._linalg_solve_ex.default", None, [(4, 4), (4, 2)], None),
        ("aten._trilinear.default", (4, 8), [(4, 3), (8, 3, 3), (4, 3)], None),
        ("aten.frexp.Tensor", None, [(4,)], None),
        ("mine.scale.default", (4,), [(4,)], None),
    ],
)
def test_operations(target, shape, arguments, expected):
    assert operations(f"torch.ops.{target}", shape, arguments) == expected


@pytest.mark.parametrize("mask", [(True, True), (False, True), (True, False)])
@pytest.mark.parametrize("transposed", [False, True])
def test_convolutions_count_as_torch_counts_them(transposed, mask):
    image, weight = torch.randn(2, 4, 7, 9), torch.randn(4, 4, 3, 3)
    rest = [[2, 2], [1, 1], [1, 1], transposed, [0, 0], 1]
    with FlopCounterMode(display=False) as forward:
        result = torch.ops.aten.convolution(image, weight, None, *rest)
    texts = ["image", "weight", "None", *map(str, rest)]
    shapes = [image.shape, weight.shape, None]
    ours = operations("torch.ops.aten.convolution.default", result.shape, shapes, texts)
    assert ours == forward.get_total_flops()

    rest.append([*mask, False])
    with FlopCounterMode(display=False) as backward:
        torch.ops.aten.convolution_backward(result, image, weight, None, *rest)
    texts = ["result", "image", "weight", "None", *map(str, rest)]
    shapes = [result.shape, image.shape, weight.shape, None]
    ours = operations("torch.ops.aten.convolution_backward.default", (), shapes, texts)
    assert ours == backward.get_total_flops()
