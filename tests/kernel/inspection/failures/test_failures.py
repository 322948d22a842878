"""What goes wrong is a problem in the report, with its cause and what to do; never an exception."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._inductor.config
from compilescope.builds.comparison import compare_with_eager
from compilescope.comms import report_without_texts
from compilescope.report import conclude
from compilescope.report.errors import CompilescopeError
from compilescope.torch_api.failures import failures
from compilescope.torch_api.failures.places import where_raised
from compilescope.torch_api.inductor import codegen
from torch._dynamo.exc import FailOnRecompileLimitHit
from torch._inductor import exc as inductor
from torch._inductor.codegen.cpp import CppScheduling
from torch._inductor.lowering import lowerings

from ... import subjects
from ...subjects import Call
from .failing import inspect, the_problem

pytestmark = pytest.mark.slow

HERE = str(Path(__file__))
X = torch.randn(4, 8)


def test_a_fault_of_ours_beside_the_eager_call_is_told_as_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slip() -> None:
        raise RuntimeError("a slip")

    monkeypatch.setattr(compare_with_eager, "_random_state", slip)
    problem = the_problem(inspect(Call(subjects.plain, (X,))))
    assert problem.what == "compilescope failed: RuntimeError: a slip"


def test_a_branch_of_cond_that_breaks_the_graph() -> None:
    def positive(x: torch.Tensor) -> torch.Tensor:
        print("positive")
        return x.sin()

    def branches(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, positive, torch.cos, (x,))

    problem = the_problem(inspect(Call(branches, (X,)), run=False))
    # It fails in eager, too, where torch.cond compiles its branches.
    assert problem.what.startswith("The subject raised UncapturedHigherOrderOpError: torch.cond ")
    with pytest.raises(RuntimeError) as caught:
        torch.compile(branches)(X)
    compiled = failures.explain(caught.value)
    assert compiled.what.startswith("torch.cond takes only functions without a graph break: ")
    assert (compiled.why, compiled.remedy) == (problem.why, problem.remedy)
    assert "print" in problem.why
    assert "print" in problem.remedy
    assert problem.where is not None
    assert problem.where.function == "positive"


def test_a_condition_on_a_value_that_is_not_known() -> None:
    def large(x: torch.Tensor) -> torch.Tensor:
        return x + 1 if x.sum().item() > 3 else x - 1

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        variants = {"whole": cs.Variant(fullgraph=True)}
        problem = the_problem(inspect(Call(large, (X,)), variants=variants, run=False))
    assert "data-dependent" in problem.what
    assert "internal error" not in problem.why
    assert problem.remedy.startswith("State before the line which case holds, with torch._check(")
    assert problem.where is not None
    assert problem.where.function == "large"


def test_full_graph_with_a_break() -> None:
    both = [cs.Variant(fullgraph=True), cs.Variant(fullgraph=True, cpp_wrapper=True)]
    problem = the_problem(inspect(Call(subjects.broken, (X,)), run=False, variants=both))
    assert problem.what == (
        "Graph break with fullgraph=True: Call to `torch._dynamo.graph_break()`"
    )
    assert "https://" in problem.remedy
    assert problem.where is not None
    assert problem.where.code == "torch._dynamo.graph_break()"


def test_full_graph_with_a_function_that_torch_does_not_trace() -> None:
    optimizer = torch.optim.SGD([torch.ones(2, requires_grad=True)])

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        return x + 1

    whole = {"whole": cs.Variant(fullgraph=True)}
    problem = the_problem(inspect(Call(step, (X,)), run=False, variants=whole))
    advice, _, link = problem.remedy.partition(" See ")
    assert advice == "Call Optimizer.zero_grad outside the compiled code."
    assert link.startswith("https://")


@pytest.mark.parametrize("run", [False, True])
def test_a_fault_of_ours_ends_no_call_and_is_told_as_ours(
    monkeypatch: pytest.MonkeyPatch, run: bool
) -> None:
    copied, asked = codegen._copied, []

    def faulty(graph: Any) -> Any:
        asked.append(graph)
        if len(asked) == 1:
            raise IndexError("a slip")
        return copied(graph)

    monkeypatch.setattr(codegen, "_copied", faulty)
    variant = cs.Variant(backend="eager" if run else "inductor")
    report = inspect(Call(subjects.broken, (X,)), run=run, variants={"one": variant})
    problem = the_problem(report, "built" if run else "failed")
    assert problem.what == "compilescope failed: IndexError: a slip"
    assert problem.why == "This is a bug in compilescope, not in your code."
    assert "report it" in problem.remedy
    assert "in faulty" in problem.detail
    # The call went on past the graph break, and the graph after that has its code.
    first, second, *_ = report.variant("one").compilations
    assert (first.code.python is None, second.code.python is None) == (True, run)


def test_an_operator_without_a_fake_implementation() -> None:
    @torch.library.custom_op("compilescope_tests::unfaked", mutates_args=())
    def unfaked(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    problem = the_problem(inspect(Call(lambda x: unfaked(x).sin(), (X,)), run=False))
    assert "no fake impl registered" in problem.why
    assert problem.where is not None
    assert (problem.where.file, problem.where.function) == (HERE, "<lambda>")


def test_arguments_that_are_not_tensors() -> None:
    report = inspect(Call(lambda a, b: a + b, (1, 2)), run=False)
    problem = the_problem(report, "sources")
    assert problem.severity == "warning"
    assert problem.what == "torch.compile compiled nothing."
    assert report.subject.arguments == ["a: 1", "b: 2"]


def test_a_kernel_s_own_error_is_no_fault_of_compilescope() -> None:
    # It has no storage, which the generated kernel asks for; torch does not know that.
    dense = Call(lambda x: x.to_dense() * 2, (X.to_mkldnn(),))
    problem = the_problem(inspect(dense, variants="python"))
    assert problem.what.startswith("torch.compile failed: Cannot access data pointer of Tensor")


def test_a_size_that_cannot_be_dynamic() -> None:
    x = torch.ones(5, 4)
    torch._dynamo.mark_dynamic(x, 0)
    report = inspect(Call(lambda x: x + torch.ones(5, 4), (x,)), run=False)
    problem = the_problem(report)
    assert problem.what == "A size is marked as dynamic, which it cannot be: L['x'].size()[0]."
    assert problem.why == (
        "You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (5)."
    )
    assert "maybe_mark_dynamic" in problem.remedy
    assert "backend" not in problem.remedy
    assert problem.where is not None
    assert problem.where.file == HERE


def test_an_operator_without_lowering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(lowerings, torch.ops.aten.sin.default)
    with torch._inductor.config.patch(implicit_fallbacks=False):
        report = inspect(Call(subjects.plain, (X,)), run=False)
    problem = the_problem(report)
    assert problem.what == "Inductor has no code for the operator aten.sin.default."
    assert "lowering" in problem.remedy
    assert problem.where is not None
    assert problem.where.code == "return (x.sin() + 1).sum(1)"
    graphs = report.compilation("0/0", "python").graphs
    assert "dynamo" in graphs, "what came before the failure is there to be read"


def test_a_fault_in_code_generation_is_not_the_subject_s(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise LookupError("no such loop")

    monkeypatch.setattr(CppScheduling, "flush", fail)
    for run in (False, True):
        report = inspect(Call(subjects.plain, (X,)), run=run, variants=["python"])
        problem = the_problem(report)
        assert problem.what.startswith("torch.compile failed: ")
        assert "no such loop" in problem.what + problem.detail
        assert problem.why.startswith("An internal error of Inductor: ")
        assert "backend='aot_eager'" in problem.remedy
        compilation = report.compilation("0/0")
        assert not compilation.guards, "torch installs none"
        assert "failed" in compilation.absent["guards"]


def test_a_failure_before_code_generation_has_the_line_in_torchs_message() -> None:
    def same(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: (x @ x.T).relu(), lambda x: x @ x.T * 2, (x,))

    for run in (False, True):
        with torch.no_grad():
            problem = the_problem(inspect(Call(same, (X,)), run=run, variants=["python"]))
        assert "might be aliasing" in problem.what
        assert "AOTAutograd or of Inductor" in problem.why
        assert problem.where is not None
        assert (problem.where.file, problem.where.function) == (HERE, "same")


def test_code_that_torch_generated_is_no_line_of_the_users() -> None:
    for module, function in (({}, "call"), ({"__name__": "__main__"}, "fail")):
        names: dict[str, Any] = dict(module)
        exec("def fail(): raise ValueError('failed')", names)

        def call(fail: Any = names["fail"]) -> None:
            fail()

        with pytest.raises(ValueError, match="failed") as caught:
            call()
        where = where_raised(caught.value)
        assert where is not None
        assert where.function == function


def test_a_limit_of_printed_tracebacks_does_not_hide_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "tracebacklimit", 0, raising=False)
    with pytest.raises(ZeroDivisionError) as caught:
        1 / 0  # noqa: B018
    where = where_raised(caught.value)
    assert where is not None
    assert where.file == HERE


@pytest.fixture
def opaque() -> Iterator[Any]:
    """A custom operator of which torch knows nothing but how to run it."""
    with torch.library._scoped_library("compilescope_test", "FRAGMENT") as library:
        library.define("opaque(Tensor x) -> Tensor")
        library.impl("opaque", lambda x: x + 1, "CPU")
        yield torch.ops.compilescope_test.opaque.default


def test_a_custom_operator_without_a_fake(opaque: Any) -> None:
    full = [cs.Variant(fullgraph=True)]
    problem = the_problem(inspect(Call(lambda x: opaque(x) * 2, (X,)), run=False, variants=full))
    assert "fake tensors" in problem.what
    assert "compilescope_test.opaque" in problem.why
    assert "https://" in problem.remedy


def test_a_failure_of_all_variants_is_said_once_on_the_overview() -> None:
    @torch.library.custom_op("compilescope_test::fakeless", mutates_args=())
    def fakeless(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    report = inspect(Call(lambda x: fakeless(x), (X,)), run=False, variants=["python", "cpp"])
    what = the_problem(report).what
    assert what.startswith("The operator compilescope_test.fakeless.default failed on fake")
    overview = conclude(report)
    assert overview.headline == f"torch.compile failed: {what}"
    assert overview.failure == the_problem(report)
    assert [(row.state, row.why) for row in overview.results] == [("failed", "")] * 2
    assert "failed</span>" in report._repr_html_()
    assert overview.headline in report.compilation("0/0").absent["guards"]
    with pytest.raises(CompilescopeError) as caught:
        report_without_texts.artifact(report, "cpp", "0/0", "cpp")
    assert (caught.value.problem.why, caught.value.problem.remedy) == (overview.headline, "")


def test_a_cpp_compile_error_shows_the_generated_line(monkeypatch: pytest.MonkeyPatch) -> None:
    real = CppScheduling.define_kernel

    def spoil(self: Any, source: str, *args: Any, **kwargs: Any) -> Any:
        return real(self, source.replace(".sin()", ".no_such_thing()"), *args, **kwargs)

    monkeypatch.setattr(CppScheduling, "define_kernel", spoil)
    report = inspect(Call(subjects.plain, (X,)))
    for variant in (report.variant("python"), report.variant("cpp")):
        (problem,) = variant.problems
        assert variant.stage == "failed"
        assert problem.what.startswith("The generated C++ does not compile: ")
        assert "no_such_thing" in problem.what
        assert problem.where is not None
        assert ".no_such_thing()" in problem.where.code
        assert problem.where.line > 1
        assert "error:" in problem.detail
        assert variant.compilations[0].guards, "what the sources told stays"
        assert all(kernel.nodes for kernel in variant.compilations[0].kernels)
        code = variant.compilations[0].code
        assert ".no_such_thing()" in (code.python or code.cpp or "")


def test_every_kind_of_failure_is_told_apart_by_its_type() -> None:
    output = (
        "In file included from a.cpp:1:\n"
        "/tmp/generated.cpp:12:9: error: 'nothing' was not declared in this scope\n"
    )
    problem = failures.explain(inductor.CppCompileError(["g++", "x.cpp"], output))
    assert problem.what == (
        "The generated C++ does not compile: 'nothing' was not declared in this scope"
    )
    assert problem.where is not None
    assert (problem.where.file, problem.where.line) == ("/tmp/generated.cpp", 12)
    assert "x.cpp" in problem.detail


def test_the_recompile_limit_of_a_full_graph_is_no_graph_break() -> None:
    def scaled(x: torch.Tensor, scale: object) -> torch.Tensor:
        return x * 2 if scale else x

    compiled = torch.compile(scaled, backend="eager", fullgraph=True)
    compiled(X, 1)
    refusal = pytest.raises(FailOnRecompileLimitHit)
    with torch._dynamo.config.patch(recompile_limit=1), refusal as caught:
        compiled(X, "text")
    problem = failures.explain(caught.value)
    assert problem.what == "The recompile limit was hit."
    assert "too many times" in problem.why
    assert "torch._dynamo.config.recompile_limit" in problem.remedy


def test_a_break_shows_the_subjects_frames_and_not_ours() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        torch._dynamo.graph_break()
        return x + 1

    report = cs.inspect(broken, (torch.randn(3),), variants="python", run=False)
    (result,) = [
        graph_break for compilation in report.compilations for graph_break in compilation.breaks
    ]
    assert [frame.function for frame in result.stack] == ["broken"]


class Uses(torch.nn.Module):
    """Can be called once."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        del self.layer
        return y


def test_a_call_that_cannot_be_made_again_is_built_and_compared_but_not_timed() -> None:
    module = Uses()
    report = cs.inspect(module, (X,), variants={"one": cs.Variant(backend="aot_eager")})
    variant = report.variant("one")
    assert variant.stage == "built"
    assert all(error.ok for error in variant.accuracy)
    assert variant.timing is None
    assert "later call failed" in variant.absent["timing"]
    (problem,) = report.problems
    assert "The subject raised AttributeError" in problem.what
    assert "The call went well at first" in problem.why
    assert list(dict(module.named_children())) == ["layer"], "the module is as it was"


def test_what_torch_compile_refuses_at_once_is_its_own_failure() -> None:
    with pytest.warns(DeprecationWarning, match="jit.script"):
        scripted = torch.jit.script(torch.nn.Linear(8, 8))
    report = cs.inspect(scripted, (X,), variants={"one": cs.Variant(backend="eager")})
    assert report.problems == []
    (problem,) = report.variant("one").problems
    assert problem.what == "torch.compile failed: the module is TorchScript."
    # The other backends fail alike.
    assert problem.remedy.startswith("Compile the module that it was made from")
    assert problem.detail.startswith("torch.compile does not support compiling torch.jit.script")


def test_a_backward_that_fails_is_told_from_the_call() -> None:
    def penalty(x: torch.Tensor) -> torch.Tensor:
        (gradient,) = torch.autograd.grad(x.sin().sum(), x, create_graph=True)
        return gradient.square().sum()

    call = Call(penalty, (X.clone().requires_grad_(),))
    variants = {"aot": cs.Variant(backend="aot_eager")}
    problem = the_problem(inspect(call, variants=variants))
    assert problem.why.startswith("The call works under torch.compile, but the backward of its")
    setting = "torch._dynamo.config.trace_autograd_ops = True"
    assert setting in problem.remedy
    with torch._dynamo.config.patch(trace_autograd_ops=True):  # what the remedy promises
        report = inspect(call, variants=variants)
    assert report.variant("aot").stage == "built"
    assert all(error.ok for error in report.variant("aot").accuracy)


def test_an_operator_whose_error_the_call_catches_needs_no_fake_implementation() -> None:
    def squared(x: torch.Tensor) -> torch.Tensor:
        try:
            return x @ x
        except RuntimeError:
            return x * x

    problem = the_problem(inspect(Call(squared, (X,)), variants="python", run=False))
    assert problem.what == "The operator matmul failed on fake tensors while Dynamo was tracing it."
    assert problem.why.startswith("RuntimeError: a and b")
    assert "same reduction dim" in problem.why
    assert "let it test sizes" in problem.remedy


def test_a_tensor_without_a_device_is_named_as_such_for_a_target() -> None:
    def shifted(x: torch.Tensor) -> torch.Tensor:
        return x + torch.linspace(0, 1, x.shape[0])

    gpu = {"gpu": cs.Variant(target="h100")}
    problem = the_problem(inspect(Call(shifted, (torch.ones(4),)), variants=gpu, run=False))
    assert "at least two devices" in problem.why
    assert "device=x.device" in problem.remedy


def test_an_argument_that_one_call_uses_up_is_refused_before_anything_is_built() -> None:
    def total(numbers: Iterable[torch.Tensor]) -> torch.Tensor:
        return torch.stack(list(numbers)).sum()

    x = torch.ones(4)
    with pytest.raises(CompilescopeError, match=r"args\[0\] is a generator, which one call"):
        cs.inspect(total, ((x for _ in range(3)),))
    with pytest.raises(CompilescopeError, match="argument numbers is a list_iterator"):
        cs.inspect(total, (), {"numbers": iter([x])})
    assert cs.inspect(total, ([x, x],), variants="python", run=False).compilations
