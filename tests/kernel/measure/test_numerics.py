"""Results compared: what is close, what is not, and what cannot be compared."""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from compilescope.builds.comparison.call_result import outcome_of
from compilescope.measure.numerics import TOLERANCES, compare, gradients
from compilescope.measure.rounding_errors import (
    ExactValues,
    accept_rounding_errors,
    as_good,
    compare_with_exact_values,
    why_unreliable,
)
from compilescope.report import OutputError

nan, inf = math.nan, math.inf


def only(errors: list[OutputError]) -> OutputError:
    (error,) = errors
    return error


def test_equal_tensors() -> None:
    x = torch.randn(3, 4)
    assert compare(x, x.clone()) == [
        OutputError(
            path="output",
            dtype="float32",
            max_abs=0.0,
            max_rel=0.0,
            tolerance_abs=1e-5,
            tolerance_rel=1.3e-6,
            ok=True,
        )
    ]


@pytest.mark.parametrize("dtype", sorted(TOLERANCES.keys() - {torch.complex32}, key=str))
def test_tolerances_are_those_of_torch_testing(dtype: torch.dtype) -> None:
    expected = torch.tensor([1.0, 0.5, 0.25], dtype=dtype)
    for factor in (0.2, 5.0):
        relative, absolute = TOLERANCES[dtype]
        actual = (expected.to(torch.complex128) + factor * (relative + absolute)).to(
            dtype if dtype.is_complex else torch.complex128
        )
        actual = actual if dtype.is_complex else actual.real.to(dtype)
        try:
            torch.testing.assert_close(actual[:1], expected[:1])
            close = True
        except AssertionError:
            close = False
        assert only(compare(expected[:1], actual[:1])).ok is close


def test_large_values_widen_the_absolute_tolerance() -> None:
    expected = torch.tensor([1e4, 1e-3])
    error = only(compare(expected, expected + torch.tensor([0.0, 5e-3])))
    assert error.ok
    assert error.tolerance_abs == pytest.approx(1.3e-2)
    assert error.max_rel == pytest.approx(5, rel=1e-3)
    assert not only(compare(expected, expected + torch.tensor([0.0, 5e-2]))).ok


def test_integers_and_booleans_are_exact() -> None:
    big = torch.tensor([2**53, 7])
    assert only(compare(torch.tensor([1, 2]), torch.tensor([1, 2]))).ok
    assert not only(compare(torch.tensor([1, 2]), torch.tensor([1, 3]))).ok
    assert not only(compare(torch.tensor([True]), torch.tensor([False]))).ok
    assert not only(compare(big, big + torch.tensor([1, 0]))).ok


@pytest.mark.parametrize(
    ("expected", "actual", "ok"),
    [
        ([nan, 1.0], [nan, 1.0], True),
        ([inf, -inf], [inf, -inf], True),
        ([inf], [-inf], False),
        ([nan], [1.0], False),
        ([1.0], [nan], False),
        ([1.0], [inf], False),
        ([nan], [inf], False),
    ],
)
def test_not_finite(expected: list[float], actual: list[float], ok: bool) -> None:
    error = only(compare(torch.tensor(expected), torch.tensor(actual)))
    assert error.ok is ok
    assert ("not finite" in error.path) is not ok
    assert math.isfinite(error.max_abs)
    assert msgspec.json.decode(msgspec.json.encode(error), type=OutputError) == error


def test_overflow_is_no_agreement() -> None:
    expected = torch.tensor([60000.0], dtype=torch.float16)
    assert not only(compare(expected, -expected)).ok


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    loss: float


Pair = collections.namedtuple("Pair", "a b")


def test_containers() -> None:
    x = torch.ones(2)

    def result(value: float) -> Any:
        return (
            {"hidden": [x * value, x]},
            Output(x * value, value),
            Pair(x, None),
            collections.OrderedDict(past=(x * value,)),
        )

    errors = compare(result(1.0), result(2.0))
    assert {error.path: error.ok for error in errors} == {
        "[0]['hidden'][0]": False,
        "[0]['hidden'][1]": True,
        "[1].logits": False,
        "[1].loss": False,
        "[2][0]": True,
        "[3]['past'][0]": False,
    }
    assert all(error.ok for error in compare(result(1.0), result(1.0)))


def test_paths_of_a_mapping_are_its_keys() -> None:
    x = torch.ones(2)
    assert [error.path for error in compare({"output[0]": x}, {"output[0]": x})] == ["output[0]"]


@pytest.mark.parametrize(
    ("expected", "actual", "reason"),
    [
        (torch.ones(2), torch.ones(3), "output (shape [3] instead of [2])"),
        (torch.ones(2), torch.ones(2).double(), "output (dtype torch.float64 instead of"),
        (torch.ones(2), torch.ones(2, device="meta"), "output (device meta instead of cpu)"),
        (torch.ones(2), None, "output (NoneType instead of Tensor)"),
        (torch.ones(2), [torch.ones(2)], "output (list instead of Tensor)"),
        (3, 4, "output (another value)"),
        ("a", 4, "output (int instead of str)"),
        ({"a": 1}, {}, "a (missing)"),
        ({}, {"a": 1}, "a (not in eager's result)"),
    ],
)
def test_what_cannot_be_compared_says_why(expected: Any, actual: Any, reason: str) -> None:
    error = only(compare(expected, actual))
    assert not error.ok
    assert error.path.startswith(reason)


def test_a_python_float_is_rounded_like_a_tensor() -> None:
    loss = torch.tensor(7.0608663).item()
    error = only(compare(loss, loss + 2e-6))
    assert error.ok
    assert error.path == "output"
    assert error.dtype == "float32"
    assert 1e-6 < error.max_abs < 3e-6
    assert not only(compare(loss, loss + 1e-3)).ok
    assert not only(compare(loss, nan)).ok
    assert only(compare(1e300, 2e300)).path == "output (another value)"


def test_a_float_may_be_as_wrong_as_eagers_is() -> None:
    """A loss in bfloat16 is farther from eager's than a float's tolerance."""
    expected, actual = {"output": 2.53125}, {"output": 2.515625}
    assert not only(compare(expected, actual)).ok
    truth = ExactValues({"output": torch.tensor(2.5235, dtype=torch.float64)})
    (error,) = compare_with_exact_values(expected, actual, truth)
    assert error.ok
    assert error.eager_reference_abs == pytest.approx(2.53125 - 2.5235)
    errors = compare(expected, actual)
    accept_rounding_errors(errors, expected, actual, {"output": 2.5078125})
    assert only(errors).ok


def test_values_without_equality_and_nan() -> None:
    assert compare((nan, object(), None, 3), (nan, object(), None, 3)) == []
    assert only(compare(np.arange(3), np.arange(3))).ok
    assert not only(compare(np.arange(3), np.ones(3))).ok


@pytest.mark.parametrize("x", [torch.empty(0), torch.eye(3).to_sparse(), torch.tensor(1 + 2j)])
def test_other_layouts_and_empty_tensors(x: torch.Tensor) -> None:
    assert only(compare(x, x.clone())).ok


def test_numpy_arrays_are_compared_like_tensors() -> None:
    ones = np.ones(3, dtype=np.float32)
    assert only(compare(ones, ones * (1 + 1e-6))).ok
    assert not only(compare(ones, ones * 1.1)).ok
    assert only(compare(ones * np.nan, ones * np.nan)).ok
    assert only(compare(np.float32(1), np.asarray(1 + 1e-6, dtype=np.float32))).ok
    assert only(compare(ones[::-1], ones)).ok
    assert only(compare(ones, ones[:2])).path == "output (shape [2] instead of [3])"
    assert compare(complex(math.nan, 1), complex(math.nan, 1)) == []


def test_numpy_arrays_that_are_no_numbers() -> None:
    names = np.array(["a", "b"])
    assert compare(names, names.copy()) == []
    assert only(compare(names, names[:1])).path == "output (another value)"
    wide = np.ones(2, dtype=np.longdouble)
    assert compare(wide, wide.copy()) == []


def test_a_container_within_itself_and_a_field_without_a_value() -> None:
    @dataclasses.dataclass
    class Lazy:
        hidden: int
        unset: torch.Tensor = dataclasses.field(init=False)

    output: list[Any] = [1, Lazy(2), [3]]
    output += [output, output[2]]
    assert outcome_of(output, None).outputs == {
        "output[0]": 1,
        "output[1].hidden": 2,
        "output[2][0]": 3,
        "output[4][0]": 3,
    }


def test_gradients_are_copies_with_names() -> None:
    w, v = torch.ones(2, requires_grad=True), torch.ones(2)
    (w * 3).sum().backward()
    result = gradients({"net.w": w, "net.v": v, "mid": w * 2})
    w.grad.zero_()
    assert list(result) == ["net.w.grad"]
    assert result["net.w.grad"].tolist() == [3, 3]


def against_truth(
    truth: torch.Tensor, eager: torch.Tensor, variant: torch.Tensor, path: str = "output"
) -> OutputError:
    return only(
        compare_with_exact_values({path: eager}, {path: variant}, ExactValues({path: truth}))
    )


def rounded(count: int, seed: int, scale: float = 1e-3) -> tuple[torch.Tensor, torch.Tensor]:
    """Values, and the same with errors of about ``scale``."""
    values = torch.linspace(1, 2, count, dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    noise = torch.randn(count, generator=generator, dtype=torch.float64) * scale
    return values, (values + noise).float()


def test_a_variant_as_near_to_the_truth_as_eager_is_ok() -> None:
    truth, eager = rounded(5000, 0)
    _, variant = rounded(5000, 1)
    error = against_truth(truth, eager, variant)
    assert error.ok
    assert not only(compare(eager, variant)).ok
    assert error.reference == "eager in float64"
    assert error.reference_abs == pytest.approx((variant.double() - truth).abs().max().item())
    assert error.eager_reference_abs == pytest.approx((eager.double() - truth).abs().max().item())


def test_a_variant_further_from_the_truth_than_eager_is_not() -> None:
    truth, eager = rounded(5000, 0)
    _, worse = rounded(5000, 1, scale=2.5e-3)
    assert not against_truth(truth, eager, worse).ok
    # Everywhere a little: the largest error alone would not tell.
    assert not against_truth(truth, eager, (truth + 2.5e-3).float()).ok
    # In one place much: the typical error alone would not tell.
    copied = eager.clone()
    copied[7] += 0.02
    assert not against_truth(truth, eager, copied).ok


def test_few_elements_may_scatter_more() -> None:
    truth = torch.ones(4, dtype=torch.float64)
    eager, variant = (truth + 1e-4).float(), (truth + 7e-4).float()
    assert as_good(eager, variant, truth)
    assert not as_good(eager.repeat(300), variant.repeat(300), truth.repeat(300))


def test_a_variant_at_the_truth_is_ok_though_eager_is_not() -> None:
    truth = torch.linspace(1, 2, 5000, dtype=torch.float64)
    assert against_truth(truth, (truth + 0.1).float(), truth.float()).ok


@pytest.mark.parametrize(
    ("truth", "eager", "variant", "ok"),
    [
        ([1.0], [1.0], [nan], False),
        ([1.0], [nan], [1.0], True),
        ([7e4], [inf], [inf], True),
        ([inf], [inf], [1.0], False),
        ([nan], [nan], [1.0], False),
    ],
)
def test_not_finite_and_the_truth(
    truth: list[float], eager: list[float], variant: list[float], ok: bool
) -> None:
    output_error = against_truth(
        torch.tensor(truth, dtype=torch.float64), torch.tensor(eager), torch.tensor(variant)
    )
    assert output_error.ok is ok


def test_what_has_no_higher_precision_has_no_reference() -> None:
    for tensor in (torch.tensor([1, 2]), torch.ones(2, dtype=torch.float64)):
        assert against_truth(tensor.double(), tensor, tensor).reference == ""


def test_a_truth_that_is_another_computation_is_not_believed() -> None:
    values = torch.rand(100) + 1
    assert why_unreliable({"a": values}, ExactValues({"a": values.double() + 1e-6})) == ""
    assert "random numbers" in why_unreliable(
        {"a": values}, ExactValues({"a": values.double() * 1.1})
    )
    assert why_unreliable({"a": values.half()}, ExactValues({"a": values.double() * 1.1})) == ""


def test_half_complex_numbers_are_compared() -> None:
    value = torch.ones(3, dtype=torch.complex64).to(torch.complex32)
    (equal,) = compare(value, value)
    (other,) = compare(value, (value.to(torch.complex64) * 1.1).to(torch.complex32))
    assert equal.ok
    assert not other.ok
