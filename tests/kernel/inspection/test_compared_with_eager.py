"""Which results of a build are compared with eager's, and what is said of a difference."""

from __future__ import annotations

import types
from typing import Any, cast

import compilescope as cs
import msgspec
import numpy as np
import pytest
import torch
import torch._inductor.config
from compilescope.builds.capture_graphs import capture
from compilescope.builds.comparison import call_result, compare_with_eager
from compilescope.builds.comparison.call_result import outcome_of
from compilescope.builds.comparison.compare_with_eager import Reference, mismatch
from compilescope.builds.comparison.rank_agreement import SingleProcess
from compilescope.builds.subject_error import SubjectError
from compilescope.isolation.code_swap import CodeCopies
from compilescope.isolation.user_state import preserved
from compilescope.measure.numerics import compare
from compilescope.report import OutputError
from compilescope.report.variant import Variant
from torch._inductor.lowering import lowerings
from torch.testing._internal.two_tensor import TwoTensor

from ..subjects import Call
from .failures.failing import inspect, the_problem

pytestmark = pytest.mark.slow

X = torch.randn(4, 8)


def test_a_planted_wrong_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        lowerings, torch.ops.aten.cos.default, lowerings[torch.ops.aten.sin.default]
    )
    # The wrong code is that of `subjects.plain`, which is compiled once.
    report = inspect(Call(lambda x: (x.cos() + 1).sum(1), (X,)), variants=["python"])
    problem = the_problem(report, "built")
    assert problem.severity == "error"
    assert problem.what == "output differs from eager's by more than its tolerance."
    (error,) = report.variant("python").accuracy
    expected = ((X.cos() - X.sin()).sum(1)).abs().max().item()
    assert not error.ok
    assert error.max_abs == pytest.approx(expected, rel=1e-3)
    assert f"off by {error.max_abs:.3g}" in problem.why


def test_a_planted_wrong_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        lowerings, torch.ops.aten.cos.default, lowerings[torch.ops.aten.sin.default]
    )
    x = X.clone().requires_grad_()
    report = inspect(Call(lambda x: x.sin(), (x,)), variants=["python"])
    problem = the_problem(report, "built")
    assert problem.what == "args[0].grad differs from eager's by more than its tolerance."
    assert {error.path: error.ok for error in report.variant("python").accuracy} == {
        "output": True,
        "args[0].grad": False,
    }
    assert x.grad is None


def test_dropout_says_why_it_is_not_compared() -> None:
    report = inspect(Call(lambda x: torch.nn.functional.dropout(x), (X,)), variants=["python"])
    variant = report.variant("python")
    assert variant.stage == "built"
    assert variant.accuracy == []
    assert "random" in variant.absent["accuracy"]
    assert variant.problems == []


def test_a_call_that_returns_nothing_says_that_nothing_was_compared() -> None:
    def nothing(x: torch.Tensor) -> None:
        x.add(1)

    report = cs.inspect(nothing, (torch.randn(3),), variants="python")
    variant = report.variant("python")
    assert variant.accuracy == []
    assert "returns nothing" in variant.absent["accuracy"]


def test_a_value_that_is_no_tensor_is_said_to_equal_eager_s() -> None:
    variants = {"one": cs.Variant(backend="eager")}
    for call in (lambda x: x.shape[0], lambda x: x.to("meta")):
        variant = cs.inspect(call, (torch.randn(3),), variants=variants).variant("one")
        assert variant.stage == "built"
        assert variant.accuracy == []
        assert variant.absent["accuracy"].startswith("What the call returns holds no tensor")


def test_another_type_is_no_difference_that_is_measured() -> None:
    def gives(x: torch.Tensor) -> Any:
        return x.float() if torch.compiler.is_compiling() else x.double()

    report = cs.inspect(gives, (X,), variants={"one": cs.Variant(backend="eager")})
    (problem,) = report.variant("one").problems
    assert problem.what == (
        "output (dtype torch.float32 instead of torch.float64) is not what eager returns."
    )
    assert "off by" not in problem.why


def test_nested_tensors_are_compared_part_by_part() -> None:
    parts = [torch.randn(2, 3), torch.randn(4, 3)]
    nested = torch.nested.nested_tensor(parts, layout=torch.jagged)
    variants = {"one": cs.Variant(backend="aot_eager")}
    report = cs.inspect(lambda x: x.sin(), (nested,), variants=variants)
    assert report.problems == []
    accuracy = report.variant("one").accuracy
    assert [(error.path, error.ok) for error in accuracy] == [
        ("output[0]", True),
        ("output[1]", True),
    ]


def test_what_does_not_repeat_in_eager_is_not_compared() -> None:
    values = iter(range(1000))

    def read(x: torch.Tensor) -> torch.Tensor:
        return x + next(values)

    report = cs.inspect(read, (torch.zeros(3),), variants={"a": cs.Variant(backend="eager")})
    variant = report.variant("a")
    assert variant.accuracy == []
    assert variant.problems == []
    assert variant.absent["accuracy"].startswith("Two calls in eager, from the same state, give")


def test_a_second_call_in_eager_may_round_differently() -> None:
    """As CUDA kernels do that add in an order that changes from call to call."""
    noise = iter([0.0, 1e-5, 0.0, 0.0])

    def summed(x: torch.Tensor) -> torch.Tensor:
        return x.sum() + next(noise, 0.0)

    x = torch.full((10,), 0.1)
    with preserved(summed, (x,)) as snapshot:
        reference = Reference(summed, (x,), {}, snapshot)
        assert reference.agrees(outcome_of(x.sum() + 0.01, None)) is False
    assert reference.unrepeatable == ""


def test_each_comparison_says_itself_why_it_compared_nothing() -> None:
    values = iter(range(1000))

    def read(x: torch.Tensor) -> torch.Tensor:
        return x + next(values)

    x = torch.zeros(3)
    with preserved(read, (x,)) as snapshot:
        reference = Reference(read, (x,), {}, snapshot)
        assert reference.agrees(outcome_of(x + 1, None)) is None
        assert reference.unrepeatable.startswith("Two calls in eager")
        assert reference.agrees(outcome_of(x, None)) is True
        assert reference.unrepeatable == ""


def test_changes_that_one_call_has_no_memory_for_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are missing from the second call in eager, which differs in nothing else."""
    norm = torch.nn.BatchNorm1d(8)
    with preserved(norm, (X,)) as snapshot:
        reference = Reference(norm, (X,), {}, snapshot)
        assert reference.outcome.changes
        monkeypatch.setattr(call_result, "free_bytes", lambda device: 4)
        assert reference.agrees(outcome_of(norm(X) + 1, None)) is False
    assert reference.unrepeatable == ""


def test_the_same_bits_written_back_are_compared_with_those_before() -> None:
    x = torch.ones(4)
    with preserved(torch.Tensor.mul_, (x, 1)) as snapshot:
        reference = Reference(torch.Tensor.mul_, (x, 1), {}, snapshot)
        assert reference.outcome.changes == {}
        for change, agrees in ((1e-7, True), (1e-3, False)):
            changed = msgspec.structs.replace(reference.outcome, changes={"args[0]": x + change})
            assert reference.agrees(changed) is agrees


@pytest.mark.parametrize("message", ["used up.", ""])
def test_a_second_call_that_raises_is_no_other_result(message: str) -> None:
    left = iter([1.0])

    def once(x: torch.Tensor) -> torch.Tensor:
        try:
            return x + next(left)
        except StopIteration:
            raise ValueError(message) from None

    x = torch.zeros(3)
    with preserved(once, (x,)) as snapshot:
        reference = Reference(once, (x,), {}, snapshot)
        assert reference.agrees(outcome_of(x + 1, None)) is True
        assert reference.unrepeatable == ""
        assert reference.agrees(outcome_of(x + 2, None)) is None
    raised = "ValueError: used up" if message else "ValueError"
    assert reference.unrepeatable == (
        f"A second call in eager, from the same state, raised {raised}; the first did not. "
        "Nothing is compared."
    )


def test_a_generator_is_left_out_of_what_is_compared() -> None:
    x = torch.zeros(3)

    def call(x: torch.Tensor) -> Any:
        return x + 1, (x.sin() for _ in range(2))

    with preserved(call, (x,)) as snapshot:
        reference = Reference(call, (x,), {}, snapshot)
        right, wrong = ((x + added, iter((x.sin(),))) for added in (1, 2))
        assert reference.agrees(outcome_of(right, None)) is None
        assert reference.agrees(outcome_of(wrong, None)) is False


def test_another_rank_whose_call_does_not_repeat_is_named() -> None:
    class AnotherFails(SingleProcess):
        def all(self, able: bool) -> bool:
            return False

    x = torch.zeros(3)
    with preserved(torch.sin, (x,)) as snapshot:
        reference = Reference(torch.sin, (x,), {}, snapshot, AnotherFails())
        assert reference.compare(outcome_of(x + 2, None)) == []
    assert reference.unrepeatable.startswith("On another rank, a second call in eager")


@pytest.mark.parametrize(
    ("backend", "remedy"),
    [
        ("inductor", "Run the accuracy study"),
        ("aot_eager", "report it to the authors of 'aot_eager'"),
        ("aot_compile(inductor)", "Inspect the function that aot_compile compiled"),
        ("<function __main__.mine>", "what your backend returns"),
    ],
)
def test_who_is_told_of_a_wrong_result(backend: str, remedy: str) -> None:
    wrong = OutputError(
        path="output",
        dtype="float32",
        max_abs=1.0,
        max_rel=1.0,
        tolerance_abs=0.0,
        tolerance_rel=0.0,
        ok=False,
    )
    assert remedy in mismatch([wrong], Variant(backend=backend)).remedy


def test_a_result_that_is_not_finite_is_no_matter_of_tolerance() -> None:
    expected = {"output[0]": torch.tensor([1.0, 3.0]), "output[1]": torch.tensor([5.0])}
    actual = {"output[0]": torch.tensor([1.0000001, torch.nan]), "output[1]": torch.tensor([7.0])}
    problem = mismatch(compare(expected, actual), Variant())
    assert problem.what.startswith("output[0] (not finite in one of the two: 1 element) is not")
    assert problem.why == "A tolerance applies only to finite numbers of the same shape and dtype."


@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_a_subclass_without_the_operators_to_compare_it() -> None:
    masked = torch.masked.masked_tensor(X, X > 0)
    report = inspect(Call(lambda x: x * 2, (masked,)), variants={"graph": Variant(backend="eager")})
    variant = report.variant("graph")
    assert variant.stage == "built"
    assert variant.accuracy == []
    assert variant.absent["accuracy"].startswith(
        "output is a MaskedTensor, whose own operators cannot compare two of them: ValueError"
    )
    assert not any(problem.severity == "error" for problem in report.problems + variant.problems)


def test_a_sparse_gradient_is_compared() -> None:
    embedding = torch.nn.Embedding(10, 4, sparse=True)
    report = inspect(
        Call(lambda rows: embedding(rows).sum(), (torch.tensor([1, 2, 1]),)),
        variants={"graph": Variant(backend="eager")},
    )
    variant = report.variant("graph")
    assert variant.problems == []
    assert {error.path: error.ok for error in variant.accuracy} == {
        "output": True,
        "embedding.weight.grad": True,
    }
    assert embedding.weight.grad is None


def test_a_loss_that_a_training_step_returns_as_a_number_is_rounded_like_a_tensor() -> None:
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(512, 64), torch.randint(64, (512,))

    def step(x: torch.Tensor, y: torch.Tensor) -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum")
        loss.backward()
        optimizer.step()
        return loss.item()

    report = cs.inspect(step, (x, y), variants="python")
    variant = report.variant("python")
    assert [error.path for error in variant.accuracy if not error.ok] == []
    assert "differ from eager" not in str(report)


def test_a_numpy_result_is_copied_and_rounded_like_a_tensor() -> None:
    buffer = np.zeros(64, dtype=np.float32)

    def normed(x: torch.Tensor) -> dict[str, Any]:
        buffer[:] = np.tanh(x.numpy()) / 3
        return {"values": buffer, "norm": np.sqrt((x.numpy() ** 2).sum())}

    outputs = outcome_of(normed(torch.ones(64)), None).outputs
    buffer[:] = 0
    assert outputs["output['values']"].all()

    def compiled(x: torch.Tensor) -> Any:
        y = np.tanh(x.numpy())
        return y / y.sum(), np.sqrt((y**2).sum())

    report = inspect(Call(compiled, (torch.randn(64),)), variants=["python"])
    assert report.variant("python").problems == []
    assert [error.ok for error in report.variant("python").accuracy] == [True, True]


def test_an_error_that_a_kernel_raises_after_its_call_is_the_subjects_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def indexed(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    def synchronize() -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "synchronize", synchronize)
    with preserved(indexed, (X,)) as snapshot, pytest.raises(SubjectError, match="device-side"):
        Reference(indexed, (X,), {}, snapshot)
    copies = CodeCopies([cast(types.FunctionType, indexed)])
    captured = capture(indexed, (X,), {}, Variant(), copies)
    assert captured.problem is not None
    assert "device-side assert" in captured.problem.what


@pytest.mark.parametrize("error", [torch.OutOfMemoryError, MemoryError])
def test_a_comparison_without_enough_memory_compares_nothing(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def raising(*args: Any, **kwargs: Any) -> Any:
        raise error

    monkeypatch.setattr(compare_with_eager, "compare", raising)
    variant = inspect(Call(torch.sin, (X,)), variants={"graph": Variant(backend="eager")}).variant(
        "graph"
    )
    assert (variant.stage, variant.problems) == ("built", [])
    assert variant.absent["accuracy"].startswith("Comparing in float64 needs more memory")
    assert variant.timing is not None


def test_a_wrapper_subclass_has_a_reference_in_double_precision() -> None:
    wrapper = TwoTensor(X.clone(), X.clone())
    with preserved(torch.sin, (wrapper,)) as snapshot:
        reference = Reference(torch.sin, (wrapper,), {}, snapshot)
        assert reference.exact_values() is not None or reference.why


@pytest.mark.parametrize("zeroes", [False, True])
def test_a_backward_that_the_call_has_run_adds_nothing(zeroes: bool) -> None:
    weight, bias = torch.randn(8, 3, requires_grad=True), torch.randn(3, requires_grad=True)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = (x @ weight + bias).mean()  # neither the mean nor the sum saves a tensor
        loss.backward()
        if zeroes:
            weight.grad = bias.grad = None
        return loss

    with preserved(step, (X,)) as snapshot:
        outcome = Reference(step, (X,), {}, snapshot).outcome
    assert outcome.is_used_up
    assert outcome.gradients.keys() == (set() if zeroes else {"weight", "bias"})
    if not zeroes:
        torch.testing.assert_close(outcome.gradients["bias"], torch.full((3,), 1 / 3))


def test_a_training_step_that_retains_its_graph_has_not_failed() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).mean()
        loss.backward(retain_graph=True)
        optimizer.step()
        return loss

    report = inspect(Call(step, (X,)), variants={"graph": Variant(backend="aot_eager")})
    variant = report.variant("graph")
    assert (variant.stage, variant.problems) == ("built", [])


def test_what_the_forward_overwrites_is_the_subjects_own_failure() -> None:
    x = X.clone().requires_grad_()
    with preserved(lambda x: x.exp().zero_(), (x,)) as snapshot, pytest.raises(SubjectError):
        Reference(lambda x: x.exp().zero_(), (x,), {}, snapshot)


def test_gradients_that_only_one_call_has_accumulated_twice_are_not_compared() -> None:
    bias = torch.zeros(8, requires_grad=True)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = (x + bias).sum()  # saves nothing: its backward runs again
        loss.backward()
        return loss

    report = inspect(Call(step, (X,)), variants={"graph": Variant(backend="aot_eager")})
    assert report.variant("graph").problems == []
