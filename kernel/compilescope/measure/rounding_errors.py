"""Rounding errors of a variant's and of eager's results, against a reference in float64."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch

from ..report import OutputError
from ..report.measurements.accuracy import NOT_FINITE
from .numerics import TOLERANCES, Tolerance, as_tensor, compare, plain_tensor, wide

FACTOR = 2.0
"""The factor by which a variant's error may exceed eager's, both against the reference."""
FACTORS_OF_FEW = ((10, 10.0), (500, 8.0), (1000, 3.0))
"""The same for small tensors, up to this number of elements: fewer errors scatter more. As in
torch's own benchmarks."""
FACTOR_OF_HALF = 3.0
"""The same for types of 16 bits, at least: coarse errors scatter more, too."""
MAX_EAGER_ERRORS = {torch.float16: 0.25, torch.bfloat16: 0.25}
MAX_EAGER_ERROR = 0.02
"""The largest typical error of eager, as a share of the typical value, that rounding explains.
Above it the reference was computed differently and is useless."""
_HIGHEST = (torch.float64, torch.complex128)


FACTOR_OF_ROUNDING = 2.0
"""The factor by which a variant's difference from eager may exceed that of eager with every
operator rounded differently."""


class ExactValues(NamedTuple):
    """Values without rounding, by path."""

    values: Mapping[str, torch.Tensor]
    name: str = "eager in float64"


class Spread(NamedTuple):
    """The errors of a tensor's finite elements."""

    largest: float
    typical: float
    """The root of the mean square."""


def compare_with_exact_values(
    expected: Mapping[str, Any], actual: Mapping[str, Any], truth: ExactValues
) -> list[OutputError]:
    """Compares two results by path, and both with the reference where it has a value.

    A value is ok if it is within its type's tolerance of eager's, as in `numerics.compare`, or if
    `as_good` says so.
    """
    output_errors = compare(expected, actual)
    for error in output_errors:
        # A remark may follow the path.
        path = next(
            (expected_path for expected_path in expected if _is_at(error.path, expected_path)), None
        )
        if path is None or path not in truth.values:
            continue
        eager_tensor: Any = as_tensor(expected[path])
        variant_tensor: Any = as_tensor(actual.get(path))
        right = truth.values[path]
        if _comparable(eager_tensor, variant_tensor, right):
            error.reference = truth.name
            eager, variant = spread(eager_tensor, right), spread(variant_tensor, right)
            error.eager_reference_abs, error.reference_abs = eager.largest, variant.largest
            error.ok = error.ok or as_good(eager_tensor, variant_tensor, right)
    return output_errors


def as_good(eager: torch.Tensor, variant: torch.Tensor, truth: torch.Tensor) -> bool:
    """Whether a variant's tensor is as accurate as can be required, though it differs from eager's.

    It is if it is finite where the reference and eager are, and only where the reference is; and if
    it is either within its type's tolerance of the reference, or its error is at most `FACTOR`
    times eager's, both for the largest error, so that no single element may be wrong, and for the
    typical one.
    """
    right, tensor = wide(plain_tensor(truth)).isfinite(), wide(plain_tensor(variant)).isfinite()
    finite = wide(plain_tensor(eager)).isfinite()
    if bool((right & finite & ~tensor).any()) or bool((~right & tensor).any()):
        return False
    eager_spread, variant_spread = spread(eager, truth), spread(variant, truth)
    allowed = _allowed(eager.dtype, truth)
    if bool((_errors(variant, truth) <= allowed).all()):
        return True
    count = eager.numel()
    factor = next((factor for most, factor in FACTORS_OF_FEW if count <= most), FACTOR)
    if eager.dtype in MAX_EAGER_ERRORS:
        factor = max(factor, FACTOR_OF_HALF)
    return (
        variant_spread.largest <= factor * eager_spread.largest
        and variant_spread.typical <= factor * eager_spread.typical
    )


def spread(tensor: torch.Tensor, truth: torch.Tensor) -> Spread:
    """The errors of a tensor against the reference."""
    errors = _errors(tensor, truth)
    if not errors.numel():
        return Spread(0.0, 0.0)
    return Spread(errors.max().item(), errors.square().mean().sqrt().item())


def is_rounding(eager: torch.Tensor, variant: torch.Tensor, otherwise: torch.Tensor) -> bool:
    """Whether rounding alone explains a variant's difference from eager.

    It compares with eager rounded differently: the largest and the typical error must be within
    `FACTOR_OF_ROUNDING`, and values finite where that run's are.

    Parameters
    ----------
    otherwise
        Eager's value from a run in which every operator rounded differently.
    """
    if bool((wide(plain_tensor(variant)).isfinite() != wide(plain_tensor(eager)).isfinite()).any()):
        return False
    rounded_spread, variant_spread = spread(otherwise, eager), spread(variant, eager)
    return (
        variant_spread.largest <= FACTOR_OF_ROUNDING * rounded_spread.largest
        and variant_spread.typical <= FACTOR_OF_ROUNDING * rounded_spread.typical
    )


def accept_rounding_errors(
    errors: Sequence[OutputError],
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    otherwise: Mapping[str, Any],
) -> None:
    """Mark results as ok if rounding explains their error.

    Parameters
    ----------
    errors
        The result of `compare_with_exact_values`; changed in place.
    otherwise
        Eager's values from a run in which every operator rounded differently.
    """
    for error in errors:
        eager_tensor, variant_tensor, otherwise_tensor = (
            as_tensor(values.get(error.path)) for values in (expected, actual, otherwise)
        )
        if (
            not error.ok
            and isinstance(otherwise_tensor, torch.Tensor)
            and isinstance(eager_tensor, torch.Tensor)
            and isinstance(variant_tensor, torch.Tensor)
            and _comparable(eager_tensor, variant_tensor, otherwise_tensor)
        ):
            largest = spread(otherwise_tensor, eager_tensor).largest
            error.other_rounding_abs = max(error.other_rounding_abs or 0.0, largest)
            error.ok = is_rounding(eager_tensor, variant_tensor, otherwise_tensor)


def why_unreliable(expected: Mapping[str, Any], truth: ExactValues) -> str:
    """Why the reference is not trusted, judged by eager's own error against it; empty if it is.

    Parameters
    ----------
    expected
        Eager's outputs; for a call without outputs, its other results.
    """
    shares: list[float] = []
    for path, value in expected.items():
        right = truth.values.get(path)
        if right is None or not _comparable(value, value, right):
            continue
        if bool(
            (wide(plain_tensor(value)).isfinite() & ~wide(plain_tensor(right)).isfinite()).any()
        ):
            shares.append(math.inf)
            continue
        # A value that is zero without rounding is judged by its distance from zero.
        typical = spread(torch.zeros_like(value), right).typical or 1.0
        limit = MAX_EAGER_ERRORS.get(value.dtype, MAX_EAGER_ERROR)
        share = spread(value, right).typical / typical / limit
        shares.append(share if math.isfinite(share) else math.inf)
    # One value of many may be pure rounding error, as the gradient of a bias before a
    # normalization.
    if shares and statistics.median(shares) > 1:
        return (
            "Computed in float64, eager's own results are others by far: parts of the computation "
            "are not torch's operators, or draw other random numbers there."
        )
    return ""


def _is_at(reported: str, path: str) -> bool:
    return reported == path or reported.startswith(f"{path}{NOT_FINITE}")


def _comparable(expected: Any, actual: Any, truth: torch.Tensor) -> bool:
    return (
        isinstance(expected, torch.Tensor)
        and isinstance(actual, torch.Tensor)
        and expected.dtype in TOLERANCES
        and expected.dtype not in _HIGHEST
        and actual.dtype == expected.dtype
        and expected.shape == actual.shape == truth.shape
    )


def _errors(tensor: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """The size of each error; none where either is not finite."""
    values, right = wide(plain_tensor(tensor)), wide(plain_tensor(truth)).to(tensor.device)
    finite = values.isfinite() & right.isfinite()
    return torch.where(finite, (values - right).abs(), 0.0)


def _allowed(dtype: torch.dtype, truth: torch.Tensor) -> torch.Tensor:
    tolerance: Tolerance = TOLERANCES[dtype]
    sizes = wide(plain_tensor(truth)).abs()
    return torch.where(sizes.isfinite(), tolerance.absolute + tolerance.relative * sizes, torch.inf)
