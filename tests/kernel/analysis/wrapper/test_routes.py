"""The operators that wrappers call, named as the dispatcher does."""

from __future__ import annotations

import pytest
from compilescope.analysis.wrapper.routes import find_routes
from compilescope.report import Code, Compilation, Kernel, Region

ATTENTION = "aten._scaled_dot_product_flash_attention_for_cpu.default"


@pytest.mark.parametrize(
    ("name", "ops", "operator"),
    [
        (
            "aoti_torch_cpu__scaled_dot_product_flash_attention_for_cpu",
            ["aten.reshape.default", "aten.permute.default", ATTENTION],
            "aten::_scaled_dot_product_flash_attention_for_cpu",
        ),
        ("aoti_torch_cuda_mm_out", ["aten.view.default", "aten.mm.default"], "aten::mm"),
        ("aoti_torch_cpu_mul_Tensor", ["aten.mul.Tensor"], "aten::mul.Tensor"),
        ("aoti_torch_cpu_sort_stable", ["aten.sort.stable"], "aten::sort.stable"),
        (
            "aoti_torch_cpu_mkldnn__convolution_pointwise",
            ["aten.permute.default", "mkldnn._convolution_pointwise.default"],
            "mkldnn::_convolution_pointwise",
        ),
        (
            "aoti_torch_cpu_index_put",
            ["aten.index.Tensor", "aten.index_put.default"],
            "aten::index_put",
        ),
        ("aoti_torch_cpu_rand", ["aten.permute.default"], "aoti_torch_cpu_rand"),
        ("extern_kernels.addmm", ["aten.view.default", "aten.addmm.default"], "aten::addmm"),
        ("extern_kernels.bias_addmm", ["aten.view.default", "aten.addmm.default"], "aten::addmm"),
        (
            f"torch.ops.{ATTENTION}",
            ["aten.reshape.default", ATTENTION],
            "aten::_scaled_dot_product_flash_attention_for_cpu",
        ),
    ],
)
def test_the_operator_is_the_one_that_is_called(name: str, ops: list[str], operator: str) -> None:
    artifact = "cpp" if name.startswith("aoti") else "python"
    region = Region(kind="launch", key="0/0:inference:0", start=1, end=1, kernel=name)
    code = Code(**{artifact: f"{name}(buf0)"}, regions={artifact: [region]})
    compilation = Compilation(
        id="0/0", code=code, kernels=[Kernel(name=name, language="extern", ops=ops)]
    )
    assert [route.operator for route in find_routes(compilation)] == [operator]
