"""Every variant's results against eager's, and both against what they would be without rounding."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.builds.comparison import compare_with_eager
from compilescope.builds.comparison.call_result import outcome_of
from compilescope.builds.comparison.compare_with_eager import Reference
from compilescope.isolation.user_state import preserved
from compilescope.measure.rounding_errors import ExactValues, why_unreliable
from compilescope.report import Report
from compilescope.report.measurements.accuracy import is_mismatch
from compilescope.torch_api.operators import double_precision, other_rounding
from compilescope.torch_api.operators.calls import recorded
from compilescope.torch_api.operators.double_precision import (
    DoublePrecision,
    with_double_precision,
)
from compilescope.torch_api.operators.other_rounding import with_other_rounding
from torch import nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch._inductor.lowering import lowerings
from torch.nn.attention.flex_attention import flex_attention

from ..studying import study, unbuilt

pytestmark = pytest.mark.slow

aten = torch.ops.aten


def studied(fn: Callable[..., Any], args: tuple[Any, ...], *names: str) -> Report:
    """A report whose variants of these names were looked at closely: the study builds them."""
    report = unbuilt(fn, args, names)
    for name in names:
        study("accuracy", fn, args, report.variant(name))
    return report


def times(operator: Any, factor: float) -> Callable[..., Any]:
    """A lowering that gives so many times what the operator gives."""
    right = lowerings[operator]
    return lambda *args, **kwargs: lowerings[aten.mul.Tensor](right(*args, **kwargs), factor)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.norm = nn.BatchNorm1d(16)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.drop(torch.sin(self.norm(self.fc(x))))
        x = torch.cat([x, x.float() * 3], 1)[:, 8:24]
        return self.out(x).softmax(-1)


class TestDoublePrecision:
    """Of the run in double precision that goes along."""

    def test_it_is_what_a_double_model_gives(self) -> None:
        torch.manual_seed(0)
        net, double = Net().eval(), Net().eval()
        double.load_state_dict(net.state_dict())
        double.double()
        x = torch.randn(8, 16)
        with with_double_precision() as mode:
            output = net(x)
            output[:, 0].square().sum().backward()
        # The double model must not be cast down half-way as the model itself is.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.Tensor, "float", lambda tensor: tensor)
            expected = double(x.double())
            expected[:, 0].square().sum().backward()
        assert output.dtype == torch.float32
        assert mode.alone == set()
        wide = mode.value_of(output)
        assert torch.allclose(wide, expected, rtol=1e-13, atol=1e-15)
        assert (wide - output).abs().max() > 1e-10
        for (name, mine), other in zip(net.named_parameters(), double.parameters(), strict=True):
            gradient = mode.value_of(mine.grad)
            assert torch.allclose(gradient, other.grad, rtol=1e-11, atol=1e-14), name

    def test_the_program_does_what_it_always_does(self) -> None:
        def call(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            y = torch.nn.functional.dropout(x, 0.5) + torch.rand_like(x)
            if y.sum().item() > 0:
                y = y.half().float()
            index = y.argmax(1)
            x.mul_(2)[0].zero_()
            return y, index, x.view(torch.int32).clone(), y.new_ones(2)

        x = torch.randn(5, 7)
        copies = x.clone(), x.clone()
        torch.manual_seed(3)
        expected = call(copies[0])
        torch.manual_seed(3)
        with with_double_precision() as mode:
            tensor = call(copies[1])
            assert torch.equal(
                mode.value_of(copies[1]), (x.double() * 2).index_fill(0, torch.tensor([0]), 0)
            )
        assert all(torch.equal(a, b) for a, b in zip(expected, tensor, strict=True))
        assert mode.value_of(tensor[1]) is None

    def test_complex_numbers_and_views_of_them(self) -> None:
        z = torch.randn(6, dtype=torch.complex64)
        with with_double_precision() as mode:
            y = z.conj() * 3
            torch.view_as_real(y)[0] = 5
            parts = y.real + y.imag
        wide = z.to(torch.complex128).conj() * 3
        wide[0] = 5 + 5j
        assert torch.equal(mode.value_of(y), wide)
        assert torch.equal(mode.value_of(parts), wide.real + wide.imag)

    def test_an_operator_without_double_precision_is_taken_as_it_is(self) -> None:
        with torch.library._scoped_library("compilescope_test", "FRAGMENT") as library:
            library.define("single(Tensor x) -> Tensor")

            def single(x: torch.Tensor) -> torch.Tensor:
                assert x.dtype == torch.float32
                return x + 1

            library.impl("single", single, "CPU")
            x = torch.randn(3)
            with with_double_precision() as mode:
                y = torch.ops.compilescope_test.single(x * 1.1)
                z = y / 3
        assert mode.alone == {"compilescope_test::single"}
        assert torch.equal(mode.value_of(y), y.double())
        assert torch.equal(mode.value_of(z), y.double() / 3)


class TestReference:
    """Of what variants are compared with."""

    def test_what_is_changed_in_place_is_part_of_it(self) -> None:
        net = nn.BatchNorm1d(3)
        x = torch.randn(4, 3)

        def call(x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            return net(x)

        with preserved(call, (x,)) as snapshot:
            reference = Reference(call, (x,), {}, snapshot)
        assert {
            "args[0]",
            "net.running_mean",
            "net.running_var",
        } <= reference.outcome.changes.keys()
        assert not reference.random
        errors = {error.path: error for error in reference.compare(reference.outcome, closely=True)}
        assert errors["net.running_mean"].reference == "eager in float64"
        assert 0 < errors["net.running_mean"].reference_abs < 1e-6
        assert errors["output"].eager_reference_abs == errors["output"].reference_abs

    @pytest.mark.parametrize(("factor", "ok"), [(5, True), (20, False)])
    def test_what_rounding_alone_may_do_is_no_mistake(self, factor: int, ok: bool) -> None:
        def call(x: torch.Tensor) -> torch.Tensor:
            # Zero, but for the rounding; eager and float64 agree on it.
            return torch.where(x * 3 - x * 2 - x > 0, x * 5, x)

        x = torch.ones(4)
        with preserved(call, (x,)) as snapshot:
            reference = Reference(call, (x,), {}, snapshot)
            state = torch.get_rng_state()
            variant = outcome_of(x * factor, snapshot.backward)
            (error,) = reference.compare(variant)
        assert error.ok is ok
        assert error.other_rounding_abs == pytest.approx(4, abs=1e-5)
        assert torch.equal(torch.get_rng_state(), state)

    def test_no_room_for_it_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(compare_with_eager, "free_bytes", lambda device: 100)
        x = torch.randn(100)
        with preserved(torch.sin, (x,)) as snapshot:
            reference = Reference(torch.sin, (x,), {}, snapshot)
            assert reference.exact_values() is None
        assert "more than half" in reference.why
        assert reference.compare(reference.outcome, closely=True)[0].reference == ""

    def test_a_call_that_fails_under_it_says_so(self) -> None:
        def call(x: torch.Tensor) -> torch.Tensor:
            if torch.utils._python_dispatch._get_current_dispatch_mode_stack():
                raise ValueError("not so")
            return x + 1

        with preserved(call, (torch.ones(2),)) as snapshot:
            reference = Reference(call, (torch.ones(2),), {}, snapshot)
            assert reference.exact_values() is None
        assert reference.why == "Eager did not run in float64: ValueError: not so."

    def test_what_torch_does_not_see_makes_it_unbelievable(self) -> None:
        def call(x: torch.Tensor) -> torch.Tensor:
            y = torch.empty_like(x)
            y.numpy()[:] = x.numpy() * 2
            return y * 1.5

        x = torch.randn(50)
        with preserved(call, (x,)) as snapshot:
            reference = Reference(call, (x,), {}, snapshot)
            assert reference.exact_values() is None
        assert "not torch's operators" in reference.why


def test_nested_tensors_run_under_both_modes() -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        return (torch.nested.nested_tensor([x, x[:2]]) * 2).to_padded_tensor(0.0) + 1

    x = torch.rand(4)
    expected = call(x)
    with with_double_precision():
        assert torch.equal(call(x), expected)
    with with_other_rounding(0):
        torch.testing.assert_close(call(x), expected)


def test_attention_whose_default_is_no_dropout_has_a_value_without_rounding() -> None:
    x = torch.rand(1, 1, 8, 16)
    with DoublePrecision() as mode:
        output = aten._scaled_dot_product_flash_attention_for_cpu(x, x, x)[0]
    expected = aten._scaled_dot_product_flash_attention_for_cpu(*[x.double()] * 3)[0]
    assert (mode.value_of(output) - expected).abs().max() < 1e-12


def test_the_functions_of_higher_order_operators_run_under_every_mode() -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(x.sum() > 0, torch.sin, torch.cos, (x * 3,))
        carried = (torch.tensor(0), flex_attention(y, y, y))
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x.exp()), carried)[1]

    def stacked(x: torch.Tensor) -> torch.Tensor:
        sums = associative_scan(torch.add, x[0, 0], 0, combine_mode="generic")
        return scan(lambda carry, row: (carry * row, carry + row), sums[0], sums)[1]

    x = torch.rand(1, 1, 4, 16) / 3
    for function in (call, stacked):
        expected = function(x)
        with with_double_precision() as mode:
            result = function(x)
        assert torch.equal(result, expected)
        assert mode.alone | mode.skipped == set()
        torch.testing.assert_close(mode.value_of(result), function(x.double()))
        assert not torch.equal(mode.value_of(result), result.double())
        with with_other_rounding(0):
            rounded = function(x)
        assert not torch.equal(rounded, expected)
        torch.testing.assert_close(rounded, expected, rtol=1e-5, atol=1e-5)
    with recorded(["aten::add.Tensor"]) as recorded_calls:
        torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,)).add(1)
    assert list(recorded_calls) == ["aten::add.Tensor"]


def repeated_products(x: torch.Tensor) -> torch.Tensor:
    """Its rounding errors grow a hundredfold."""

    def body(i: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return i + 1, torch.tanh(x @ x)

    result: torch.Tensor = while_loop(lambda i, x: i < 8, body, (torch.tensor(0), x))[1]
    return result


def test_a_loop_is_compared_with_its_result_in_double_precision() -> None:
    torch.manual_seed(0)
    x = torch.randn(64, 64)
    variant = cs.inspect(repeated_products, (x,), variants="python").variant("python")
    assert variant.problems == []
    with preserved(repeated_products, (x,)) as snapshot:
        reference = Reference(repeated_products, (x,), {}, snapshot)
        right = outcome_of(repeated_products(x.double()).float(), None)
        (error,) = reference.compare(right)
        assert error.ok
        assert error.max_abs > 100 * error.tolerance_abs
        assert error.reference_abs < 1e-6 < error.eager_reference_abs
        wrong = outcome_of(repeated_products(x * 1.001), None)
        assert not reference.compare(wrong)[0].ok


def test_an_operator_whose_function_is_not_computed_in_double_precision_has_no_reference(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (double_precision, other_rounding):
        monkeypatch.setattr(module, "runs_under_modes", lambda operator: False)
    x = torch.randn(64, 64)
    with preserved(repeated_products, (x,)) as snapshot:
        reference = Reference(repeated_products, (x,), {}, snapshot)
        (error,) = reference.compare(outcome_of(repeated_products(x) + 1, None))
    assert reference.why == "Operators that call functions did not run in float64: while_loop."
    assert (error.ok, error.reference, error.other_rounding_abs) == (False, "", None)


class TestNormalization:
    """Of layers before a normalization, whose gradients are what is left of large terms."""

    @staticmethod
    def layers() -> nn.Module:
        torch.manual_seed(0)
        return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16))

    def test_a_correct_backward_is_accepted(self) -> None:
        net = self.layers()
        variant = cs.inspect(net, (torch.randn(16, 3, 32, 32),), variants="python").variant(
            "python"
        )
        assert [error.path for error in variant.accuracy if not error.ok] == []
        assert variant.problems == []

    # One of the gradient's 16,384 terms, each of them zero but for rounding steps of 1.
    @pytest.mark.parametrize(("off", "ok"), [(2e-4, True), (16.0, False)])
    def test_the_gradient_of_a_bias_is_as_exact_as_its_terms(self, off: float, ok: bool) -> None:
        net, path = self.layers(), "Sequential.0.bias.grad"
        x = torch.randn(16, 3, 32, 32)
        with preserved(net, (x,)) as snapshot:
            reference = Reference(net, (x,), {}, snapshot)
            gradients = dict(reference.outcome.gradients)
            name = next(name for name in gradients if name.endswith("0.bias"))
            gradients[name] = gradients[name] + off
            errors = reference.compare(
                msgspec.structs.replace(reference.outcome, gradients=gradients)
            )
        (error,) = [error for error in errors if error.path == path]
        assert error.ok is ok
        assert error.max_abs > error.tolerance_abs

    def test_a_wrong_backward_is_not_accepted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from torch._inductor import decomposition

        operator = aten.native_batch_norm_backward.default
        right = decomposition.decompositions[operator]

        def wrong(*args: Any, **kwargs: Any) -> Any:
            image, *others = right(*args, **kwargs)
            return (image * 1.001, *others)

        monkeypatch.setitem(decomposition.decompositions, operator, wrong)
        decomposition.fast_random_decomps.cache_clear()
        net = self.layers()
        x, factors = torch.randn(4, 3, 16, 16), torch.randn(4, 16, 16, 16)
        report = cs.inspect(lambda x: net(x) * factors, (x,), variants="python")
        wrong_paths = [error.path for error in report.variant("python").accuracy if not error.ok]
        assert wrong_paths == ["net.0.weight.grad"]


@pytest.mark.parametrize("result", [0.0, 1e300, float("nan")])
def test_a_reference_that_is_whatever_was_in_memory_is_not_believed(result: float) -> None:
    exact_values = ExactValues({"output": torch.full((50,), result, dtype=torch.float64)})
    assert "not torch's operators" in why_unreliable({"output": torch.randn(50)}, exact_values)
    # Zero, but for the rounding.
    assert not why_unreliable(
        {"output": torch.randn(50) * 1e-8}, ExactValues({"output": torch.zeros(50)})
    )


def test_a_training_step_is_compared_in_all_it_changes() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
    opt = torch.optim.Adam(net.parameters(), lr=0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        opt.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        opt.step()
        return loss.detach()

    before = {name: value.clone() for name, value in net.state_dict().items()}
    report = cs.inspect(step, (torch.randn(16, 8),), variants=["python"])
    variant = report.variant("python")
    errors = {error.path: error for error in variant.accuracy}
    assert {
        "output",
        "net.0.weight",
        "net.0.weight.grad",
        "net.1.running_mean",
        "opt.state[net.1.bias]['exp_avg']",
    } <= errors.keys()
    # The gradient of a bias before a normalization is all rounding, and Adam makes it large: eager
    # is as far from the truth as the variant.
    bias = errors["net.0.bias"]
    assert bias.max_abs > 1e-3
    assert bias.eager_reference_abs > 1e-3
    assert all(error.ok for error in errors.values())
    assert variant.problems == []
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())
    assert not opt.state


def test_random_numbers_are_the_same_in_the_study() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(16, 16), nn.BatchNorm1d(16), nn.Dropout(0.3))
    args = (torch.randn(8, 16),)
    variant = unbuilt(net, args, ("python",)).variant("python")
    variant.absent["accuracy"] = "It draws random numbers."  # as an inspection says
    study("accuracy", net, args, variant)
    assert "accuracy" not in variant.absent
    errors = {error.path: error for error in variant.accuracy}
    assert all(error.ok for error in errors.values())
    assert errors["output"].max_abs < 1e-6
    assert "fallback_random" in errors["output"].reference
    assert errors["Sequential.1.running_mean"].reference_abs < 1e-6
    assert errors["Sequential.0.weight.grad"].reference_abs is not None
    assert variant.first_wrong_kernel is None


@pytest.mark.parametrize("name", ["python", "cpp"])
def test_the_first_wrong_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = (x @ w).relu()
        z = (y @ w).sin()
        return (z @ w).relu()

    monkeypatch.setitem(lowerings, aten.sin.default, times(aten.sin.default, 1.0005))
    torch.manual_seed(0)
    report = studied(call, (torch.randn(8, 8), torch.randn(8, 8)), name)
    variant = report.variant(name)
    (error,) = variant.accuracy
    assert not error.ok
    assert error.reference_abs > 100 * error.eager_reference_abs
    (problem,) = [problem for problem in variant.problems if is_mismatch(problem)]
    assert "float64" in problem.why
    first = variant.first_wrong_kernel
    assert first is not None, variant.absent
    assert problem.remedy == (
        f"The first kernel whose result is wrong: {first.kernel} (node sin). Report it to PyTorch."
    )
    assert (first.compilation, first.node) == ("0/0", "sin")
    assert "sin" in first.kernel
    assert math.isclose(first.error.max_rel, 5e-4, rel_tol=0.01)
    # Its launch is the report's.
    code = report.compilation("0/0", name).code
    (region,) = [
        region
        for region in code.regions[name]
        if region.kind == "launch" and region.key == first.key
    ]
    assert region.kernel == first.kernel


def test_a_wrong_kernel_of_the_backward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(lowerings, aten.cos.default, times(aten.cos.default, 1.01))
    x = torch.randn(8, 8, requires_grad=True)
    weight = torch.randn(8, 8)
    report = studied(lambda x: x.sin() @ weight, (x,), "python")
    first = report.variant("python").first_wrong_kernel
    assert first is not None, report.variant("python").absent
    assert first.key.startswith("launch:backward")
    assert "cos" in first.kernel


def test_a_wrong_graph_is_not_blamed_on_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import decomposition

    def wrong(x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x) * 1.01

    monkeypatch.setitem(decomposition.decompositions, aten.silu.default, wrong)
    decomposition.fast_random_decomps.cache_clear()
    args = (torch.randn(64),)
    report = cs.inspect(torch.nn.functional.silu, args, variants=["python"])
    variant = report.variant("python")
    assert [is_mismatch(problem) for problem in variant.problems] == [True]
    study("accuracy", torch.nn.functional.silu, args, variant)
    # It takes the place of what the inspection said.
    (problem,) = variant.problems
    assert is_mismatch(problem)
    assert "the graph itself deviates" in problem.remedy
    assert not variant.accuracy[0].ok
    assert variant.first_wrong_kernel is None
    assert "the graph itself deviates" in variant.absent["first_wrong_kernel"]
