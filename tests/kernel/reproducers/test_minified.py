"""A graph that fails, made smaller while it fails in the same way."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.cli import main
from compilescope.processes import runner
from compilescope.report import OutputError, Problem, Report, VariantReport
from compilescope.reproducers import reproduce
from compilescope.reproducers.graph_program import failing_programs
from compilescope.reproducers.program import Request
from compilescope.reproducers.same_failure import signature
from msgspec import structs

pytestmark = pytest.mark.slow

NO_CHOICE = {"max_autotune_gemm": True, "max_autotune_gemm_backends": "TRITON"}
"""On a processor Triton has no template of a matrix product, and nothing else is allowed."""


def subject(x: torch.Tensor, w: torch.Tensor, at: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = torch.relu(x[at] @ w).softmax(-1)
    return y.cos() + 1, y


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Of a call that does not compile, as it comes out of a file."""
    call = (torch.rand(8, 4), torch.rand(4, 4), torch.randint(0, 8, (8,)))
    variants = {"no choice": cs.Variant(options=NO_CHOICE), "works": cs.Variant(backend="eager")}
    report = cs.inspect(subject, call, variants=variants, run=False)
    return cs.load(report.save(tmp_path_factory.mktemp("report") / "report.json"))


def small(x: torch.Tensor) -> torch.Tensor:
    return torch.relu(x).cos()


def failed(variant: cs.Variant, **given: Any) -> tuple[Report, VariantReport]:
    """The report of a small call."""
    report = cs.inspect(small, (torch.randn(8),), variants={"it": variant}, run=False, **given)
    return report, report.variant("it")


def wrong(variant: VariantReport) -> None:
    """As if it had been run and its result had not been eager's."""
    variant.stage, variant.problems = "built", []
    variant.accuracy = [OutputError("output", "float32", 1.0, 1.0, 1e-5, 1e-6, ok=False)]


@pytest.mark.usefixtures("fresh_dynamo")
def test_of_results_that_differ_the_part_that_is_wrong_is_left() -> None:
    report, variant = failed(cs.Variant(backend="relu_accuracy_error_TESTING_ONLY"))
    wrong(variant)
    program = cs.reproducer(report, minify=True)
    assert program.tried == "fails", program.output
    assert program.what == "dynamo of 0/0"
    assert program.why.startswith("1 of 2 operators are left after ")
    assert program.why.endswith("The results differ from those of torch's operators.")
    assert "result 0: DIFFERS, off float64 by " in str(program)
    assert "torch.relu(" in program.code
    assert "cos" not in program.code


class Clipped(torch.autograd.Function):
    """A sine whose gradient has a relu, which its value has not."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return torch.relu(grad * x.cos()).cos()


@pytest.mark.usefixtures("fresh_dynamo")
@pytest.mark.skipif(torch.cuda.is_available(), reason="the fault is in code for a processor")
def test_of_wrong_gradients_the_part_of_the_backward_is_left() -> None:
    def clipped(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (Clipped.apply(x * w) * 3).sum()

    fault = cs.Variant(options={"cpp.inject_relu_bug_TESTING_ONLY": "accuracy"})
    call = (torch.randn(8), torch.randn(8, requires_grad=True))
    report = cs.inspect(clipped, call, variants={"it": fault})
    wrong_paths = [error.path for error in report.variant("it").accuracy if not error.ok]
    assert wrong_paths == ["args[1].grad"]
    program = cs.reproducer(report, minify=True)
    assert program.tried == "fails", program.output
    assert program.what == "backward_post_grad of 0/0"
    assert program.why.startswith("1 of 8 operators are left after ")
    assert "aten.relu.default(" in program.code


@pytest.mark.usefixtures("fresh_dynamo")
def test_results_that_only_differ_in_the_report() -> None:
    report, variant = failed(cs.Variant(backend="eager"))
    wrong(variant)
    with pytest.raises(cs.CompilescopeError, match=r"0/0 does not fail\. On random inputs"):
        cs.reproducer(report, minify=True)


@pytest.mark.usefixtures("fresh_dynamo")
def test_of_a_call_that_raises_after_it_was_compiled_the_part_that_raises_is_left() -> None:
    report, variant = failed(cs.Variant(backend="relu_runtime_error_TESTING_ONLY"))
    variant.stage = "failed"
    program = cs.reproducer(report, minify=True)
    assert program.tried == "fails", program.output
    assert program.why.startswith("1 of 2 operators are left after ")
    assert program.why.endswith("It ends with AssertionError: ReluRuntimeError")


@pytest.mark.usefixtures("fresh_dynamo")
@pytest.mark.skipif(torch.cuda.is_available(), reason="the fault is in code for a processor")
def test_of_a_kernel_that_the_compiler_refuses_the_operator_is_left() -> None:
    fault = {"cpp.inject_relu_bug_TESTING_ONLY": "compile_error"}
    report, variant = failed(cs.Variant(options=fault))
    variant.stage = "failed"
    program = cs.reproducer(report, minify=True)
    assert program.tried == "fails", program.output
    assert program.failure.startswith("The generated C++ does not compile: ")
    assert program.why.startswith("1 of 2 operators are left after ")
    assert "CppCompileError" in program.why


@pytest.mark.usefixtures("fresh_dynamo")
def test_what_dynamo_itself_refuses_has_no_graph() -> None:
    def breaks(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x.cos()

    report = cs.inspect(
        breaks, (torch.randn(8),), variants={"it": cs.Variant(fullgraph=True)}, run=False
    )
    assert report.variant("it").stage == "failed"
    with pytest.raises(cs.CompilescopeError, match="Dynamo failed before it had one"):
        cs.reproducer(report, minify=True)


@pytest.mark.skipif(torch.cuda.is_available(), reason="Triton has templates for a GPU")
def test_the_part_that_fails_is_left_and_fails_in_a_new_process(
    report: Report, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.variant("no choice").stage == "failed"
    path = tmp_path / "report.json"
    report.save(path)
    assert main(["reproduce", str(path), "--minify", "-o", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "fails in a new process, as in the report" in printed
    assert "1 of " in printed
    assert "NoValidChoicesError" in printed
    assert "Traceback" not in printed
    program = tmp_path / "failing_post_grad_0_0.py"
    code = program.read_text()
    assert "aten.mm.default" in code
    assert "softmax" not in code
    with pytest.raises(Exception, match="NoValidChoicesError"):
        runpy.run_path(str(program), run_name="__main__")


def test_after_the_time_the_smallest_that_was_reached_is_offered(report: Report) -> None:
    steps: list[str] = []
    program = reproduce.smaller(report, Request(), seconds=0, stepped=steps.append)
    assert program.tried == "fails", program.output
    assert program.why.startswith("It is the whole graph. The time was over after 0 attempts.")
    assert "softmax" in program.code or "exp" in program.code
    assert steps == [reproduce.RUNNING]


def test_a_graph_that_compiles_has_nothing_to_make_smaller(report: Report) -> None:
    with pytest.raises(cs.CompilescopeError, match=r"does not fail\. It compiles"):
        cs.reproducer(report, variant="works", graph="dynamo", minify=True)


def test_of_a_report_without_a_failure_nothing_is_tried(report: Report) -> None:
    without = structs.replace(report, variants=[report.variant("works")])
    with pytest.raises(cs.CompilescopeError, match=r"No variant of this report failed.*known"):
        cs.reproducer(without, minify=True)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_graph_that_needs_a_gpu_is_not_said_to_work(report: Report) -> None:
    (compilation,) = report.variant("works").compilations
    node = compilation.graphs["dynamo"].nodes[0]
    device, node.device = node.device, "cuda:0"
    try:
        needed = (
            r"cannot be made smaller\. It needs a GPU.* Make it smaller on a machine with a GPU"
        )
        with pytest.raises(cs.CompilescopeError, match=needed):
            cs.reproducer(report, variant="works", graph="dynamo", minify=True)
    finally:
        node.device = device


def test_an_operator_that_only_one_process_knows_is_told(report: Report) -> None:
    (compilation,) = report.variant("works").compilations
    graph = compilation.graphs["dynamo"]
    text = graph.text
    graph.text = text.replace("torch.relu(", "torch.ops.mine.relu(")
    assert graph.text != text
    try:
        with pytest.raises(cs.CompilescopeError, match=r"do not run in a new process.*'mine'"):
            cs.reproducer(report, variant="works", graph="dynamo", minify=True)
    finally:
        graph.text = text


def test_a_failure_of_another_kind_is_told(report: Report) -> None:
    variant = report.variant("no choice")
    (problem,) = variant.problems
    variant.problems = [Problem(severity="error", what="Something else failed.")]
    try:
        with pytest.raises(cs.CompilescopeError, match="otherwise than in the report"):
            reproduce.smaller(report, Request(), seconds=0)
    finally:
        variant.problems = [problem]


def test_cancelled_it_offers_the_whole_graph(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_POLL_S", 0.01)
    program = reproduce.smaller(report, Request(), cancelled=lambda: True)
    assert program.tried == "not tried"
    assert program.why == "It was not made smaller: the work was canceled."


def test_the_program_has_the_settings_of_its_variant(report: Report) -> None:
    variant = report.variant("no choice")
    (program,) = failing_programs(report, None, None, variant)
    assert f"options={NO_CHOICE!r}" in program.code
    requested = variant.requested
    try:
        variant.requested = cs.Variant(
            mode="max-autotune", cpp_wrapper=True, dynamic=True, options={"pass": "<function f>"}
        )
        (program,) = failing_programs(report, None, None, variant)
    finally:
        variant.requested = requested
    modes = "dynamic=True, options={**torch._inductor.list_mode_options('max-autotune')"
    assert modes in program.code
    assert "**{'cpp_wrapper': True}}" in program.code


def test_sizes_and_numbers_of_buffers_do_not_tell_failures_apart() -> None:
    first = Problem(severity="error", what="Failed.", why="size 12 of buf3 at 0x7f3a")
    other = Problem(severity="error", what="Failed.", why="size 4 of buf0 at 0x1b")
    assert signature(first) == signature(other)
    assert signature(first) != signature(Problem(severity="error", what="Failed.", why="stride"))


def test_only_a_graph_is_made_smaller(report: Report) -> None:
    for other in ({"kernel": "cpp_fused_0"}, {"run": False}):
        with pytest.raises(cs.CompilescopeError, match="Only a graph is made smaller"):
            cs.reproducer(report, minify=True, **other)  # type: ignore[arg-type]


def mine(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
    raise RuntimeError("not today")


@pytest.mark.usefixtures("fresh_dynamo")
def test_a_backend_that_is_a_function_is_not_blamed_on_the_graph() -> None:
    report, variant = failed(cs.Variant(backend=mine))  # type: ignore[arg-type]
    assert variant.compilations
    variant.stage = "failed"
    with pytest.raises(cs.CompilescopeError, match="mine is a function of the session"):
        cs.reproducer(report, minify=True)
