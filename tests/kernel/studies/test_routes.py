"""Custom operators: who implements them, how each wrapper reaches them, what that costs.

A build tells how its kernels came to be there.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import compilescope as cs
import pytest
import torch
from compilescope.report import KernelLoad, Report, Route
from compilescope.torch_api.operators.calls import Dispatched, recorded
from torch import Tensor
from torch._inductor.cpp_builder import get_cpp_compiler
from torch.utils.cpp_extension import include_paths, library_paths

from ..studying import unbuilt
from ..subjects import product

pytestmark = pytest.mark.slow

SOURCE = """
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>

using torch::stable::Tensor;

Tensor doubled(Tensor x, double by) {
  Tensor y = torch::stable::empty_like(x);
  const float* from = static_cast<const float*>(x.data_ptr());
  float* to = static_cast<float*>(y.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] * by;
  return y;
}

STABLE_TORCH_LIBRARY(routes_cpp, m) { m.def("doubled(Tensor x, float by) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(routes_cpp, CPU, m) { m.impl("doubled", TORCH_BOX(&doubled)); }
"""


@torch.library.custom_op("routes::halved", mutates_args=())
def halved(x: Tensor, by: float) -> Tensor:
    return x / by


@halved.register_fake
def _(x: Tensor, by: float) -> Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("routes::ramp", mutates_args=())
def ramp(size: int) -> Tensor:
    return torch.ones(size)


def f(x: Tensor) -> Tensor:
    y = torch.ops.routes_cpp.doubled(halved(x @ x, 2.0), 3.0)
    return torch.ops.routes.listed(y, [1]).relu() + 1


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """An operator in C++, and one that Python registers without ``custom_op``."""
    folder = tmp_path_factory.mktemp("operators")
    source, built = folder / "operators.cpp", folder / "operators.so"
    source.write_text(SOURCE)
    includes = [f"-I{path}" for path in include_paths() if Path(path).exists()]
    command = [get_cpp_compiler(), "-std=c++20", "-shared", "-fPIC", *includes]
    libraries = [f"-L{path}" for path in library_paths()]
    subprocess.run(
        [*command, str(source), *libraries, "-ltorch", "-ltorch_cpu", "-o", str(built)], check=True
    )
    torch.ops.load_library(built)
    torch.library.register_fake("routes_cpp::doubled", lambda x, by: torch.empty_like(x))
    library = torch.library.Library("routes", "FRAGMENT")
    library.define("listed(Tensor x, int[] sizes) -> Tensor")
    library.impl("listed", lambda x, sizes: x.clone(), "CPU")
    library.impl("listed", lambda x, sizes: torch.empty_like(x), "Meta")
    yield
    library._destroy()


@pytest.fixture(scope="module")
def report(operators: None) -> Report:
    with torch.no_grad():
        report = unbuilt(f, (torch.rand(8, 8),))
        return cs.study(report, "routes")


def routes(report: Report, variant: str) -> dict[str, Route]:
    return {route.operator: route for route in report.compilation("0/0", variant).routes}


def test_who_implements_an_operator_and_where(report: Report) -> None:
    for variant in ("python", "cpp"):
        data = routes(report, variant)
        assert {name: route.registered for name, route in data.items()} == {
            "aten::mm": "torch",
            "routes::halved": "python",
            "routes_cpp::doubled": "cpp",
            "routes::listed": "python",
        }
        own = data["routes::halved"].where
        assert own is not None
        assert (Path(own.file).name, own.function) == ("test_routes.py", "halved")


def test_the_ways_of_both_wrappers_and_the_gil(report: Report) -> None:
    python, cpp = routes(report, "python"), routes(report, "cpp")
    assert {name: (route.via, route.gil) for name, route in python.items()} == {
        "aten::mm": ("library", 1),
        "routes::halved": ("python", 2),
        "routes_cpp::doubled": ("python", 1),
        "routes::listed": ("python", 2),
    }
    # Lists go to the dispatcher only since torch 2.12.
    assert cpp["routes::listed"].via in ("dispatcher", "python")
    assert {name: (route.via, route.gil) for name, route in cpp.items()} == {
        "aten::mm": ("shim", 0),
        "routes::halved": ("dispatcher", 1),
        "routes_cpp::doubled": ("dispatcher", 0),
        "routes::listed": (cpp["routes::listed"].via, 1),
    }
    text = (report.compilation("0/0", "cpp").code.cpp or "").split("\n")
    for name, item in cpp.items():
        assert all(name.partition("::")[2] in text[line - 1] for line in item.lines)


def test_reaching_them_is_measured_without_their_own_work(report: Report) -> None:
    for variant in ("python", "cpp"):
        data = routes(report, variant)
        for name in ("routes::halved", "routes_cpp::doubled"):
            item = data[name]
            assert item.us is not None, item.how
            assert item.interval_us is not None
            assert item.interval_us[0] <= item.us <= item.interval_us[1]
            assert "rounds" in item.how
        assert data["routes::halved"].us, "going into Python takes time"
        assert data["routes::listed"].us is None
        assert data["routes::listed"].how
        assert data["aten::mm"].us is None


def test_a_recorded_call_keeps_the_layout_of_its_tensors() -> None:
    x = torch.rand(4, 8)[:, ::2]
    with recorded(["routes::halved"]) as recorded_calls:
        halved(x, 2.0)
    copy = recorded_calls["routes::halved"].args[0]
    assert copy.stride() == x.stride()
    assert torch.equal(copy, x)


def test_an_operator_without_tensors_is_called_as_a_cpp_wrapper_does() -> None:
    with recorded(["routes::ramp"]) as recorded_calls:
        ramp(5)
    with contextlib.closing(Dispatched(recorded_calls["routes::ramp"])) as dispatched:
        dispatched()
        dispatched.without()


def test_how_the_kernels_came_to_be_there() -> None:
    call = product()
    report = cs.inspect(call.fn, call.args, variants=("python", "cpp"))
    python, cpp = (report.variant(name) for name in ("python", "cpp"))
    generated = {
        kernel.name: kernel.direction
        for kernel in python.compilations[0].kernels
        if kernel.language == "cpp"
    }
    assert sorted(generated.values()) == ["backward", "forward"]
    phases = dict(zip(("forward", "backward"), python.compilations[0].phases, strict=True))
    assert sorted(kernel_load.kernel for kernel_load in python.kernel_loads) == sorted(generated)
    for kernel_load in python.kernel_loads:
        assert kernel_load.compile_us
        assert kernel_load.load_us
        assert kernel_load.first_run_us
        assert kernel_load.warm_run_us
        assert (kernel_load.compilation, kernel_load.call, kernel_load.cached) == ("0/0", 0, False)
        on_axis = [span.step for span in kernel_load.spans]
        assert on_axis == ["compile", "load", "first_run", "later_run"]
        compiled, loaded, run, _ = kernel_load.spans
        assert (compiled.us, run.us) == (kernel_load.compile_us, kernel_load.first_run_us)
        # It is on the axis of the phases: within that of its build, run when that is over.
        phase = phases[generated[kernel_load.kernel]]
        end = phase.start_us + phase.duration_us
        assert phase.start_us < compiled.start_us < loaded.start_us < end < run.start_us
    assert len(cpp.kernel_loads) == 2
    for wrapper in cpp.kernel_loads:
        assert [span.step for span in wrapper.spans] == ["compile", "load"]
        assert isinstance(wrapper, KernelLoad)
        assert wrapper.kernel == "C++ wrapper"
        assert wrapper.compile_us
        assert wrapper.load_us
        assert wrapper.first_run_us is None
        assert "one library" in wrapper.how
