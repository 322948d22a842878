"""Operators that generated code calls through Python, in both wrappers."""

from __future__ import annotations

import compilescope
import pytest
import torch
from compilescope.report import Crossing, Report
from compilescope.torch_api.operators.operators import place_of, python_kernel
from torch import Tensor


@torch.library.custom_op("crossings::scale", mutates_args=())
def scale(x: Tensor, factor: float) -> Tensor:
    return x * factor


@scale.register_fake
def _(x: Tensor, factor: float) -> Tensor:
    return torch.empty_like(x)


def f(x: Tensor) -> Tensor:
    y = scale(x @ x, 2.0)
    return scale(y, 3.0).sum() + torch.linalg.matrix_exp(x).sum()


@pytest.fixture(scope="module")
def report() -> Report:
    with torch.no_grad():
        return compilescope.inspect(f, (torch.ones(4, 4),), run=False)


def crossings(report: Report, variant: str) -> dict[str, Crossing]:
    return {
        crossing.operator: crossing for crossing in report.compilation("0/0", variant).crossings
    }


def test_the_cpp_wrapper_crosses_for_an_operator_written_in_python_only(report: Report) -> None:
    code = report.compilation("0/0", "cpp").code.cpp or ""
    assert code.count("aoti_torch_call_dispatcher(") > 2, "matrix_exp has no shim either"
    data = crossings(report, "cpp")
    assert list(data) == ["crossings::scale"]
    item = data["crossings::scale"]
    assert item.artifact == "cpp"
    assert item.direction == "inference"
    assert "scale (test_crossings.py:" in item.why
    assert "C++" in item.remedy
    lines = code.split("\n")
    assert len(item.lines) == 2
    assert all("aoti_torch_call_dispatcher(" in lines[line - 1] for line in item.lines)


def test_the_python_wrapper_calls_every_library_operator_through_python(report: Report) -> None:
    compilation = report.compilation("0/0", "python")
    data = crossings(report, "python")
    assert set(data) == {
        kernel.name for kernel in compilation.kernels if kernel.language == "extern"
    }
    assert "extern_kernels.mm" in data
    assert "cpp_wrapper" in data["extern_kernels.mm"].remedy
    own = data["torch.ops.crossings.scale.default"]
    assert "test_crossings.py" in own.why
    assert "cpp_wrapper" not in own.remedy, "that would cross too"
    lines = (compilation.code.python or "").split("\n")
    assert all("torch.ops.crossings.scale" in lines[line - 1] for line in own.lines)
    assert len(own.lines) == 2


def test_code_without_library_calls_crosses_nowhere() -> None:
    report = compilescope.inspect(lambda x: x.sin() + 1, (torch.ones(4),), run=False)
    assert [compilation.crossings for compilation in report.compilations] == [[], []]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("aten::mm", ""), ("aten::sort.stable", ""), ("crossings::unheard_of", None)],
)
def test_where_a_kernel_comes_from(operator: str, expected: str | None) -> None:
    assert python_kernel(operator, "cpu") == expected


def test_a_kernel_registered_without_custom_op() -> None:
    library = torch.library.Library("crossings_library", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    text = python_kernel("crossings_library::twice", "cpu")
    assert text is not None
    assert text.startswith("test_crossings.py:")
    assert python_kernel("crossings_library::twice", "cuda") == ""


def test_each_device_has_its_own_kernel() -> None:
    def on_cuda(x: Tensor) -> Tensor:
        return x.clone()

    def on_cpu(x: Tensor) -> Tensor:
        return x.clone()

    operator = torch.library.custom_op(
        "crossings::copied", on_cuda, mutates_args=(), device_types="cuda"
    )
    operator.register_kernel("cpu", on_cpu)
    for device, function in (("cpu", "on_cpu"), ("cuda", "on_cuda")):
        assert (python_kernel("crossings::copied", device) or "").startswith(f"{function} (")
        place = place_of("crossings::copied", device)
        assert place is not None
        assert place[2] == function
