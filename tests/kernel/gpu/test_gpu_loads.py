"""On a real GPU: how Triton kernels came to be there, TMA descriptors, ways to custom operators."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.report import Report
from torch import Tensor

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@torch.library.custom_op("gpu_loads::shifted", mutates_args=())
def shifted(x: Tensor, by: float) -> Tensor:
    return x + by


@shifted.register_fake
def _(x: Tensor, by: float) -> Tensor:
    return torch.empty_like(x)


def f(x: Tensor) -> Tensor:
    return (shifted(x, 2.0).softmax(-1) @ x).relu().sum(-1)


@pytest.fixture(scope="module")
def report() -> Report:
    with torch.no_grad():
        report = cs.inspect(
            f,
            (torch.rand(512, 512, device="cuda"),),
            variants={
                "python": cs.Variant(options={"max_autotune_pointwise": True}),
                "cpp": cs.Variant(cpp_wrapper=True),
            },
        )
        return cs.study(report, "routes")


def triton(report: Report, variant: str) -> set[str]:
    kernels = report.compilation("0/0", variant).kernels
    return {kernel.name for kernel in kernels if kernel.language == "triton" and kernel.launches}


def test_the_python_wrappers_kernels_are_compiled_loaded_tuned_and_run(report: Report) -> None:
    loads = {
        kernel_load.kernel: kernel_load for kernel_load in report.variant("python").kernel_loads
    }
    assert set(loads) >= triton(report, "python") != set()
    for name in triton(report, "python"):
        load = loads[name]
        assert load.compile_us or load.cached
        assert load.load_us
        assert load.first_run_us
        assert load.warm_run_us
        assert load.compilation == "0/0"
        assert load.warm_run_us < (load.compile_us or 0) + load.load_us + load.first_run_us
    assert any(load.autotune_us for load in loads.values()), loads


def test_the_cpp_wrapper_is_a_row_beside_its_kernels(report: Report) -> None:
    variant = report.variant("cpp")
    assert not [problem for problem in variant.problems if problem.severity == "error"]
    loads = {kernel_load.kernel: kernel_load for kernel_load in variant.kernel_loads}
    assert loads["C++ wrapper"].compile_us
    assert loads["C++ wrapper"].load_us
    for name in triton(report, "cpp"):
        assert loads[name].compile_us or loads[name].cached
        assert "C++ wrapper" in loads[name].how or loads[name].warm_run_us


def test_ways_to_an_operator_are_measured_on_the_host(report: Report) -> None:
    for variant, way in (("python", "python"), ("cpp", "dispatcher")):
        routes = {route.operator: route for route in report.compilation("0/0", variant).routes}
        item = routes["gpu_loads::shifted"]
        assert (item.via, item.registered) == (way, "python")
        assert item.us, item.how
        assert item.us < 1000


@pytest.mark.skipif(
    torch.cuda.is_available() and torch.cuda.get_device_capability() < (9, 0),
    reason="needs TMA",
)
def test_a_kernel_with_tma_descriptors_runs_and_is_marked() -> None:
    pytest.importorskip("triton.tools.tensor_descriptor")
    from .. import descriptor_subjects

    # Triton needs it for the descriptors that a kernel makes on the device.
    triton = pytest.importorskip("triton")
    triton.set_allocator(
        lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda")
    )
    x = torch.rand(256, 512, device="cuda")
    for fn, item in (
        (descriptor_subjects.made_on_device, "device"),
        (descriptor_subjects.made_on_host, "host"),
    ):
        report = cs.inspect(fn, (x,), variants=("python",))
        variant = report.variant("python")
        assert variant.stage == "built", variant.problems
        kernels = report.compilation("0/0", "python").kernels
        kernel = next(kernel for kernel in kernels if kernel.descriptors)
        assert {descriptor.built_on for descriptor in kernel.descriptors} == {item}
        assert all(descriptor.block == ["64", "64"] for descriptor in kernel.descriptors)
        loads = {kernel_load.kernel: kernel_load for kernel_load in variant.kernel_loads}
        assert loads[kernel.name].first_run_us
