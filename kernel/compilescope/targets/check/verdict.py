"""Compares a kernel's result with the result of its operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
import torch

from ...measure import numerics, rounding_errors
from ...report.target import KernelCheck

HOW = "Triton's interpreter, against torch's operators in float64"
HOW_OWN = "Triton's interpreter, against torch's operators in the same precision"
_COARSE = {
    torch.float8_e4m3fn: 0.125,
    torch.float8_e4m3fnuz: 0.125,
    torch.float8_e5m2: 0.25,
    torch.float8_e5m2fnuz: 0.25,
}
"""Types without a tolerance in torch → the relative distance of neighboring values."""
_ROUNDINGS = 8.0
"""The error allowed for results with few elements, in units of the inputs' float32 epsilon. If sums
cancel, eager's own error is the measure, but with few elements it may be zero by chance."""
_MIN_ELEMENTS = 500
_MAX_CANCELLED = 1e-3
"""The most that this may be, relative to the largest result."""


def verdict(
    node: str, reference: torch.Tensor, actual: torch.Tensor, wide: torch.Tensor, inputs: float
) -> KernelCheck:
    """Compare one result with the expected one.

    Integers agree if they equal the operators' result in either precision.

    Parameters
    ----------
    node
        Whose value it is.
    reference, wide
        The operators' result in the types of the graph, and in float64.
    inputs
        The largest magnitude among what the kernel read.
    """
    if reference.dtype in _COARSE:
        check, ok = _coarse(reference, actual)
    elif reference.dtype.is_floating_point or reference.dtype.is_complex:
        check, ok = _floating(reference, actual, wide, inputs)
    else:
        ok = torch.equal(reference, actual) or torch.equal(wide.to(reference.dtype), actual)
        off = (reference != actual).double().mean().item() if reference.numel() else 0.0
        check = KernelCheck(outcome="agrees", error=off, tolerance=0.0)
    if not ok:
        check.outcome = "differs"
        check.why = _where(node, reference, actual)
    return check


def not_checked(why: str) -> KernelCheck:
    """The verdict on what was not compared."""
    return KernelCheck(outcome="not checked", why=why)


def summary(checks: Sequence[KernelCheck]) -> KernelCheck:
    """The verdict on a kernel, from those on its launches."""
    if not checks:
        return not_checked("none of its results is a node of the graph")
    kernel_check = msgspec.structs.replace(worst(checks))
    compared = [check for check in checks if check.outcome != "not checked"]
    kernel_check.launches = sum(check.launches for check in compared)
    kernel_check.error = max(
        (check.error for check in compared if check.error is not None), default=None
    )
    kernel_check.tolerance = max(
        (check.tolerance for check in compared if check.tolerance is not None), default=None
    )
    return kernel_check


def worst(checks: Sequence[KernelCheck]) -> KernelCheck:
    """The worst check: differing before agreeing before unchecked.

    If some were not checked, an agreeing one says so in ``why``.
    """
    ranks = {"differs": 0, "agrees": 1, "not checked": 2}
    kernel_check = min(checks, key=lambda check: (ranks[check.outcome], -(check.error or 0.0)))
    others = [check.why for check in checks if check.outcome == "not checked"]
    if kernel_check.outcome == "agrees" and others and not kernel_check.why:
        kernel_check = msgspec.structs.replace(
            kernel_check, why=f"not all of it was compared: {others[0]}"
        )
    return kernel_check


def _coarse(reference: torch.Tensor, actual: torch.Tensor) -> tuple[KernelCheck, bool]:
    step = _COARSE[reference.dtype]
    right, tensor = reference.float(), actual.float()
    ok = torch.allclose(tensor, right, rtol=step, atol=step / 64, equal_nan=True)
    error = _largest((tensor - right).abs()) / (_largest(right.abs()) or 1.0)
    return KernelCheck(outcome="agrees", error=error, tolerance=step), ok


def _floating(
    reference: torch.Tensor, actual: torch.Tensor, wide: torch.Tensor, inputs: float
) -> tuple[KernelCheck, bool]:
    right, tensor, eager = numerics.wide(wide), numerics.wide(actual), numerics.wide(reference)
    scale = _largest(right.abs())
    finite = right.isfinite() & tensor.isfinite()
    same = (tensor == eager) | (tensor.isnan() & eager.isnan()) | (tensor == right)
    odd = bool((~finite & ~same & ~(tensor.isnan() & right.isnan())).any())
    errors = torch.where(finite, (tensor - right).abs(), 0.0)
    rounding = numerics.TOLERANCES[torch.float32].relative
    last_digit = torch.finfo(torch.float32).eps
    if reference.dtype in (torch.float64, torch.complex128):
        rounding, last_digit = 1e-12, torch.finfo(torch.float64).eps
    allowed = numerics.TOLERANCES[reference.dtype].relative * right.abs().nan_to_num()
    allowed = allowed + rounding * scale
    if reference.numel() <= _MIN_ELEMENTS:
        allowed = allowed + min(_ROUNDINGS * last_digit * inputs, _MAX_CANCELLED * scale)
    near = bool((errors <= allowed).all())
    target_spread, eager_spread = (
        rounding_errors.spread(tensor, right),
        rounding_errors.spread(eager, right),
    )
    factor = _factor(reference)
    as_good = (
        target_spread.largest <= factor * eager_spread.largest
        and target_spread.typical <= factor * eager_spread.typical
    )
    at = int(errors.argmax()) if errors.numel() else 0
    limit = allowed.reshape(-1)[at].item() if errors.numel() else 0.0
    check = KernelCheck(
        outcome="agrees",
        error=target_spread.largest / (scale or 1.0),
        tolerance=max(limit, 0.0 if near else factor * eager_spread.largest) / (scale or 1.0),
    )
    return check, not odd and (near or as_good)


def _factor(reference: torch.Tensor) -> float:
    """The factor by which a kernel's error may exceed eager's."""
    few = rounding_errors.FACTORS_OF_FEW
    factor = next(
        (factor for most, factor in few if reference.numel() <= most), rounding_errors.FACTOR
    )
    return (
        max(factor, rounding_errors.FACTOR_OF_HALF)
        if reference.dtype in rounding_errors.MAX_EAGER_ERRORS
        else factor
    )


def _largest(magnitudes: torch.Tensor) -> float:
    finite = magnitudes[magnitudes.isfinite()]
    return float(finite.max().item()) if finite.numel() else 0.0


def _where(node: str, reference: torch.Tensor, actual: torch.Tensor) -> str:
    """The element with the largest difference, the first if several are equal."""
    right, tensor = numerics.wide(reference).reshape(-1), numerics.wide(actual).reshape(-1)
    off = (right - tensor).abs()
    off = torch.where(off.isnan() & ~(right.isnan() & tensor.isnan()), math.inf, off.nan_to_num())
    at = int(off.argmax())
    place = []
    for size in reversed(reference.shape):
        place.append(at % size)
        at //= size
    index = tuple(reversed(place))
    return f"{node}{list(index)} is {_text(actual[index])} instead of {_text(reference[index])}"


def _text(value: torch.Tensor) -> str:
    number = value.item()
    return f"{number:.6g}" if isinstance(number, float) else str(number)
