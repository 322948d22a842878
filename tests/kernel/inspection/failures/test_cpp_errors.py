"""Failures inside generated C++, provoked for real: operator, tensor, the user's line and cause."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._inductor.config as config
from compilescope.report import Problem, Report
from compilescope.session.session import Session
from compilescope.torch_api.failures import cpp_messages
from torch._logging._internal import LazyTraceHandler, TorchLogsFormatter, trace_log

pytestmark = pytest.mark.slow

HERE = str(Path(__file__))
X = torch.randn(4, 8)
CHECKS_TYPES = tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 15)
"""Whether the type of what an operator returns is checked, too."""
OLDEST = torch.__version__.startswith("2.11.")
"""Its C++ wrapper checks no shapes, and gives no reason for a call that fails."""
NAMES = "compilescope_cpp_errors"
SHIM = "aoti_torch_cpu_other"
"""As torch makes it of the operator's name."""


class Behavior:
    """What the operator does that `odd` is: torch knows its fake implementation alone."""

    now = "as said"


@torch.library.custom_op(f"{NAMES}::odd", mutates_args=())
def odd(x: torch.Tensor) -> torch.Tensor:
    if Behavior.now == "shape":
        return x.new_zeros(4, 9)
    if Behavior.now == "stride":
        return x.new_zeros(8, 4).t()
    if Behavior.now == "dimensions":
        return x.new_zeros(4, 8, 1)
    if Behavior.now == "type":
        return x.double()
    if Behavior.now == "raises":
        raise LookupError("no such row 7")
    return x + 1


@odd.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op(f"{NAMES}::other", mutates_args=())
def other(x: torch.Tensor) -> torch.Tensor:
    return x + 1


@other.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def calls_odd(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    z = odd(y)
    return z.sin()


def calls_other(x: torch.Tensor) -> torch.Tensor:
    return other(x)


def rows(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x[index].sin()


def wide(x: torch.Tensor, size: int) -> torch.Tensor:
    wider = x.expand(size, 1024, 1024).sin()
    return torch.cumsum(wider, 0).sum()


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test compiles anew: torch words some failures otherwise for code from its caches."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    torch._dynamo.reset()
    Behavior.now = "as said"
    with config.patch(force_disable_caches=True):
        yield
    torch._dynamo.reset()


def inspect(*call: Any, **options: Any) -> dict[str, Problem]:
    """Variant → its one problem."""
    report = Session().inspect(call[0], call[1:], **options)
    compiled = [variant for variant in report.variants if variant.requested.backend is not None]
    assert [variant.stage for variant in compiled] == ["failed"] * len(compiled)
    assert all(len(variant.problems) == 1 for variant in compiled), [
        variant.problems for variant in compiled
    ]
    return {variant.name: variant.problems[0] for variant in compiled}


def watched(
    fn: Any, *calls: tuple[Any, ...], dynamic: bool = False
) -> tuple[BaseException, Report]:
    """What the last call raises, and the report of the watch in which all took place."""
    compiled = torch.compile(fn, options={"cpp_wrapper": True}, dynamic=dynamic)
    session = Session()
    with pytest.raises(Exception) as caught, session.watcher.block(256, None) as report:  # noqa: PT011, PT012
        for call in calls:
            compiled(*call)
    return caught.value, report


def wrapper_line(report: Report, problem: Problem) -> str:
    facts = problem.facts
    [compilation] = [
        compilation for compilation in report.compilations if compilation.id == facts["compilation"]
    ]
    text = getattr(compilation.code, facts["artifact"])
    return str(text.split("\n")[int(facts["wrapper_line"]) - 1].strip())


@pytest.mark.skipif(OLDEST, reason="the C++ wrapper of torch 2.11 checks no shapes")
def test_a_fake_implementation_that_says_another_shape() -> None:
    Behavior.now = "shape"
    problems = inspect(calls_odd, X)
    for name, problem in problems.items():
        assert problem.what == (
            f"{NAMES}::odd returned a tensor of another shape than its fake implementation says."
        )
        assert "register_fake" in problem.remedy
        assert problem.facts["artifact"] == name
        assert problem.facts["tensor"].startswith("buf")
        assert problem.facts["expected"] == "(4, 8), strides (8, 1)"
        assert problem.facts["found"] == "(4, 9), strides (9, 1)"
        assert re.match(r"assert_(size_stride|tensor_metadata)\(", problem.facts["text"])
        assert problem.where is not None
        assert (problem.where.file, problem.where.code) == (HERE, "z = odd(y)")
    assert set(problems) == {"python", "cpp"}


@pytest.mark.skipif(OLDEST, reason="the C++ wrapper of torch 2.11 checks no shapes")
def test_what_fails_while_it_is_watched_is_told_and_raised_all_the_same() -> None:
    """One compilation, three ways to fail: what the operator does is not compiled in."""
    watch = Session().watcher.on()
    compiled = torch.compile(calls_odd, options={"cpp_wrapper": True})
    compiled(X)
    for Behavior.now in ("stride", "dimensions", "type", "raises"):
        if Behavior.now == "type" and not CHECKS_TYPES:
            continue
        with pytest.raises(RuntimeError) as caught:
            compiled(X)
        watch.raised(caught.value)
    watch.stop()
    strides, dimensions, *types, raises = watch.report.problems
    assert strides.what == (
        f"{NAMES}::odd returned a tensor with other strides than its fake implementation says."
    )
    assert strides.facts["found"] == "(4, 8), strides (1, 4)"
    assert wrapper_line(watch.report, strides).startswith("assert_size_stride(")

    assert dimensions.why.startswith("Expected ndim 2 but got 3.")
    assert wrapper_line(watch.report, dimensions).startswith("assert_size_stride(")
    assert len(types) == CHECKS_TYPES
    for type_ in types:
        assert type_.why.startswith("It is of float64; the generated code expects float32.")
        assert wrapper_line(watch.report, type_).startswith("assert_size_stride(")

    assert raises.what == f"{NAMES}::odd failed while the generated C++ ran."
    assert raises.why == "LookupError: no such row 7"
    assert "API call failed" in raises.detail
    assert raises.where is not None
    assert (raises.where.file, raises.where.function) == (HERE, "odd")
    assert raises.facts["nodes"]
    assert f"{NAMES}::odd" in wrapper_line(watch.report, raises)


@pytest.mark.parametrize(
    ("shim", "operator"),
    [
        ("cpu_mm_out", "aten::mm"),
        ("cuda_pow_Tensor_Scalar", "aten::pow.Tensor_Scalar"),
        ("cpu_set__source_Tensor", "aten::set_.source_Tensor"),
        ("cpu_mkldnn__convolution_pointwise", "mkldnn::_convolution_pointwise"),
        ("cpu__c10d_functional_all_reduce_", "_c10d_functional::all_reduce_"),
        ("empty_strided", ""),
    ],
)
def test_the_operator_of_a_shim_exists(shim: str, operator: str) -> None:
    assert cpp_messages.operator_of(f"aoti_torch_{shim}(buf0, arg0_1)") == operator


def test_an_operator_of_torchs_own_needs_no_fake_implementation() -> None:
    problem = cpp_messages.explain(
        "expected dtype float32 but got float64\nError in op: torch.ops._c10d_functional.all_reduce"
    )
    assert problem is not None
    assert "register_fake" not in problem.remedy


def test_the_exception_passes_a_watch_unchanged() -> None:
    Behavior.now = "raises"
    error, report = watched(calls_odd, (X,))
    assert type(error) is RuntimeError
    assert "API call failed at" in str(error)
    assert not getattr(error, "__notes__", [])
    assert error.__cause__ is None
    [problem] = report.problems
    assert problem.facts["operator"] == f"{NAMES}::odd"


def test_the_users_own_exception_is_no_problem_of_a_watch() -> None:
    def own(x: torch.Tensor) -> torch.Tensor:
        raise LookupError("mine")

    session = Session()
    with pytest.raises(LookupError), session.watcher.block(256, None) as report:
        own(X)
    assert report.problems == []


def test_an_index_out_of_bounds_in_a_kernel() -> None:
    error, report = watched(rows, (X, torch.tensor([1, 99])))
    assert "index out of bounds" in str(error)
    [problem] = report.problems
    assert problem.what.startswith("An index is out of bounds in the generated kernel ")
    assert problem.facts["kernel"] in wrapper_line(report, problem)
    assert problem.where is not None
    assert problem.where.code == "return x[index].sin()"


def test_memory_that_is_not_there() -> None:
    x = torch.randn(1, 1024, 1024)
    _, report = watched(wide, (x, 2), (x, 10_000_000_000), dynamic=True)
    [problem] = report.problems
    assert problem.what.startswith("There was no memory for buf")
    assert OLDEST or "41943040000000000 bytes" in problem.what.replace("_", "")
    assert problem.facts["tensor"].startswith("buf")
    assert "_empty_strided" in problem.facts["call"]
    assert problem.where is not None
    assert problem.where.file == HERE


def with_shim(declared: str) -> Problem:
    """What comes of a C++ wrapper that is told of a shim for `other`, which it has not."""
    operator = getattr(torch.ops, NAMES).other.default
    with config.patch({"aot_inductor.custom_ops_to_c_shims": {operator: [declared]}}):
        return inspect(calls_other, X, variants=["cpp"])["cpp"]


def test_a_shim_that_is_not_there() -> None:
    problem = with_shim(f"AOTITorchError {SHIM}(AtenTensorHandle x, AtenTensorHandle* ret0)")
    assert problem.what == f"The generated C++ calls {SHIM}, which no loaded library defines."
    assert "load_library" in problem.remedy
    assert SHIM in problem.facts["text"]
    assert problem.where is not None
    assert problem.where.code == "return other(x)"


def test_a_shim_that_nothing_declares() -> None:
    problem = with_shim("int unrelated(int)")
    assert problem.what == f"The generated C++ calls {SHIM}, which nothing declares."
    assert problem.where is not None
    assert problem.where.code == "return other(x)"


def test_generated_code_that_does_not_compile() -> None:
    problem = with_shim(f"AOTITorchError {SHIM}(int x)")
    assert problem.what.startswith("The generated C++ does not compile: ")
    assert problem.facts["cause"] in problem.what
    assert problem.facts["artifact"] == "cpp"
    assert SHIM in problem.facts["text"]


@pytest.fixture
def without_headers(tmp_path: Path) -> str:
    """A C++ compiler that finds none of the standard library's headers."""
    real = os.environ.get("CXX", "g++")
    script = tmp_path / "g++"
    script.write_text(f'#!/bin/sh\nexec {real} -nostdinc++ "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return str(script)


def test_a_kernel_that_torch_did_not_keep_for_the_wrapper() -> None:
    # It takes torch 2.11 and a GPU to provoke it: here are its words alone. There, on an H100, the
    # setting in the remedy made the backward compile, with the gradients of eager.
    problem = cpp_messages.explain("CudaKernelParamCache not populated for triton_poi_fused_0")
    assert problem is not None
    assert problem.facts == {"kernel": "triton_poi_fused_0"}
    assert "options={'triton.store_cubin': True}" in problem.remedy


def test_a_header_that_is_not_there(without_headers: str) -> None:
    with config.patch({"cpp.cxx": (None, without_headers)}):
        problem = inspect(lambda x: x.sin() + 1, X, variants=["cpp"])["cpp"]
    assert problem.what.startswith("The C++ compiler does not find the header ")
    assert problem.facts["header"] in problem.what
    assert "%compilescope doctor" in problem.remedy


def test_a_trace_tells_what_could_not_be_built(tmp_path: Path, without_headers: str) -> None:
    # What torch adds to its logger when it is imported with TORCH_TRACE.
    handler = LazyTraceHandler(str(tmp_path / "traces"))
    handler.setFormatter(TorchLogsFormatter(trace=True))
    trace_log.addHandler(handler)
    compiled = torch.compile(lambda x: x.sin() + 1, options={"cpp_wrapper": True})
    try:
        with (
            config.patch({"cpp.cxx": (None, without_headers)}),
            pytest.raises(Exception, match="CppCompileError"),
        ):
            compiled(X)
    finally:
        trace_log.removeHandler(handler)
        handler.close()
    report = cs.read_trace(tmp_path / "traces")
    [problem] = report.variants[0].problems
    assert problem.what.startswith("The C++ compiler does not find the header ")
