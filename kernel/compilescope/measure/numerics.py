"""The tolerances of results, and the comparison of two results within them."""

from __future__ import annotations

import cmath
import dataclasses
import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch

from ..analysis.figures.wording import count
from ..report import OutputError
from ..report.argument_checks import kind_of
from ..report.measurements.accuracy import NOT_FINITE
from ..report.problem import message_of
from ..torch_api.operators import tensors
from ..torch_api.operators.numpy_values import from_numpy
from ..torch_api.operators.sharding import own_part


class Tolerance(NamedTuple):
    """``|actual - expected| <= absolute + relative * |expected|`` passes."""

    relative: float
    absolute: float


TOLERANCES: dict[torch.dtype, Tolerance] = {
    torch.float16: Tolerance(1e-3, 1e-5),
    torch.bfloat16: Tolerance(1.6e-2, 1e-5),
    torch.float32: Tolerance(1.3e-6, 1e-5),
    torch.float64: Tolerance(1e-7, 1e-7),
    torch.complex32: Tolerance(1e-3, 1e-5),
    torch.complex64: Tolerance(1.3e-6, 1e-5),
    torch.complex128: Tolerance(1e-7, 1e-7),
}
"""The defaults of ``torch.testing.assert_close``, from its documentation; other types are exact."""


def tolerance(expected: torch.Tensor, kernels: int = 1) -> Tolerance:
    """The tolerance for a tensor: torch.testing's for its dtype, wider if its values are large.

    Those defaults are for one operation on values near one. The rounding error of a sum is as large
    as that of its largest terms, even if they cancel, so the absolute part is no less than the
    relative part times the tensor's largest finite magnitude.

    Parameters
    ----------
    kernels
        How many kernels in a row rounded, in both results, each in its own way. The absolute part
        grows with the square root of that number, as the error of many roundings does (N. Higham,
        *Accuracy and Stability of Numerical Algorithms*, section 2.8).
    """
    relative, absolute = TOLERANCES.get(expected.dtype, Tolerance(0.0, 0.0))
    magnitudes = wide(expected).abs()
    finite = magnitudes[magnitudes.isfinite()]
    largest = finite.max().item() if finite.numel() else 0.0
    return Tolerance(relative, max(absolute, relative * largest) * math.sqrt(kernels))


def compare(expected: Any, actual: Any, kernels: int = 1) -> list[OutputError]:
    """Compares two results, tensor by tensor and value by value.

    Looks into tuples, lists, mappings and dataclasses. Two NaNs are equal, as are two infinities of
    one sign. Python floats are compared like tensors of torch's default dtype, and NumPy's numbers
    like tensors of their own.

    Parameters
    ----------
    expected, actual
        Eager's result and the variant's. A mapping's keys are the paths of its values.
    kernels
        As of `tolerance`.

    Returns
    -------
    list[OutputError]
        One for each tensor that has values, and one for each other value that differs. A part that
        cannot be compared (a different type, shape or dtype, a missing part) is not ok, and its
        ``path`` says why. ``max_abs`` and ``max_rel`` are over the elements that are finite in
        both, ``max_rel`` over those of them that are not zero in eager.
    """
    return list(_compare(expected, actual, "", kernels))


class IncomparableError(Exception):
    """A tensor subclass has no operators to compare two of it; the message says so."""


def gradients(by_path: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies of the tensors' current gradients, named ``<path of the tensor>.grad``."""
    return {
        f"{path}.grad": tensor.grad.detach().clone()
        for path, tensor in by_path.items()
        if tensor.is_leaf and tensor.grad is not None
    }


def _compare(expected: Any, actual: Any, path: str, kernels: int) -> Iterator[OutputError]:
    expected, actual = from_numpy(expected), from_numpy(actual)
    if isinstance(expected, torch.Tensor) and isinstance(actual, torch.Tensor):
        if expected.is_nested and actual.is_nested:
            # Their parts differ in shape, so they have no dense form as a whole.
            parts, others = list(expected.unbind()), list(actual.unbind())
            yield from _compare(parts, others, path or "output", kernels)
        elif expected.is_nested or actual.is_nested:
            yield _unlike(path, "nested in one of the two", expected.dtype)
        elif tensors.is_wrapper(expected):
            try:
                errors = list(_tensors(expected, actual, path or "output", kernels))
            except Exception as error:
                raise IncomparableError(
                    f"{path or 'output'} is {kind_of(expected)}, whose own operators "
                    f"cannot compare two of them: {type(error).__name__}: {message_of(error)}"
                ) from error
            yield from errors
        else:
            yield from _tensors(expected, actual, path or "output", kernels)
        return
    expected_parts, actual_parts = _parts(expected, path), _parts(actual, path)
    if expected_parts is None or actual_parts is None:
        if type(expected) is not type(actual):
            yield _unlike(path, f"{_kind(actual)} instead of {_kind(expected)}")
        elif not _equal(expected, actual):
            expected_tensor, actual_tensor = as_tensor(expected), as_tensor(actual)
            if isinstance(expected_tensor, torch.Tensor) and isinstance(
                actual_tensor, torch.Tensor
            ):
                yield from _tensors(expected_tensor, actual_tensor, path or "output", kernels)
            else:
                yield _unlike(path, "another value")
        return
    for name in (
        expected_parts.keys() | actual_parts.keys()
        if expected_parts.keys() != actual_parts.keys()
        else ()
    ):
        if name not in actual_parts:
            yield _unlike(name, "missing")
        elif name not in expected_parts:
            yield _unlike(name, "not in eager's result")
    for name, part in expected_parts.items():
        if name in actual_parts:
            yield from _compare(part, actual_parts[name], name, kernels)


def _parts(value: Any, path: str) -> dict[str, Any] | None:
    """The parts of a container by path; None for a value without parts."""
    if isinstance(value, Mapping):
        return {f"{path}[{key!r}]" if path else str(key): item for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return {f"{path}[{index}]": item for index, item in enumerate(value)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
        return {f"{path}.{name}" if path else name: getattr(value, name) for name in names}
    return None


def _tensors(
    expected: torch.Tensor, actual: torch.Tensor, path: str, kernels: int
) -> Iterator[OutputError]:
    if tensors.is_fake(actual) and not tensors.is_fake(expected):
        # Tracing left it in the model: torch.export does, in an attribute that the call creates.
        yield _unlike(path, f"left as a {_kind(actual)}, which has no values", expected.dtype)
        return
    expected, actual = plain_tensor(expected), plain_tensor(actual)
    for name, expected_property, actual_property in [
        ("shape", list(expected.shape), list(actual.shape)),
        ("dtype", expected.dtype, actual.dtype),
        ("device", expected.device, actual.device),
    ]:
        if expected_property != actual_property:
            yield _unlike(
                path, f"{name} {actual_property} instead of {expected_property}", expected.dtype
            )
            return
    if expected.is_meta or tensors.is_fake(expected):
        return  # it has no values
    relative, absolute = tolerance(expected, kernels)
    wanted_wide, got_wide = wide(expected), wide(actual)
    finite = wanted_wide.isfinite() & got_wide.isfinite()
    same = (wanted_wide == got_wide) | (wanted_wide.isnan() & got_wide.isnan())
    odd = int((~finite & ~same).sum())
    # Where an element is not finite the difference is NaN or infinite: it is counted, not measured.
    errors = torch.where(finite, (got_wide - wanted_wide).abs(), 0.0)
    nonzero = finite & (wanted_wide != 0)
    ratios = torch.where(nonzero, errors / torch.where(nonzero, wanted_wide.abs(), 1.0), 0.0)
    allowed = torch.where(finite, absolute + relative * wanted_wide.abs(), math.inf)
    # Large integers round in double precision.
    exact = absolute == relative == 0.0
    yield OutputError(
        path=f"{path}{NOT_FINITE}: {count(odd, 'element')})" if odd else path,
        dtype=_dtype(expected.dtype),
        max_abs=_largest(errors),
        max_rel=_largest(ratios),
        tolerance_abs=absolute,
        tolerance_rel=relative,
        ok=bool((errors <= allowed).all())
        and odd == 0
        and (not exact or torch.equal(expected, actual)),
    )


def _largest(errors: torch.Tensor) -> float:
    """The largest error, limited to the largest number that JSON can represent."""
    return min(errors.max().item(), sys.float_info.max) if errors.numel() else 0.0


def as_tensor(value: Any, dtype: torch.dtype | None = None) -> Any:
    """A Python float as a tensor, as ``loss.item()`` is rounded like one; other values unchanged.

    Parameters
    ----------
    dtype
        By default torch's default dtype. A float that it cannot represent is not changed either.
    """
    dtype = dtype or torch.get_default_dtype()
    if type(value) is not float or torch.finfo(dtype).max < abs(value) < math.inf:
        return value
    return torch.tensor(value, dtype=dtype)


def plain_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """A strided tensor of numbers, without its history; for a distributed one, the local shard."""
    tensor = own_part(tensor.detach())
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    return tensor.dequantize() if tensor.is_quantized else tensor


def wide(tensor: torch.Tensor) -> torch.Tensor:
    """In double precision, where no difference between two elements rounds away or overflows."""
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


def _equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, (float, complex)) and cmath.isnan(expected):
        return cmath.isnan(actual)
    equality: Any = type(expected).__eq__
    if equality is object.__eq__:
        return True  # an object without equality: two runs create two of them
    if getattr(expected, "shape", None) != getattr(actual, "shape", None):
        return False  # NumPy refuses to compare such arrays of strings or objects
    same = expected == actual
    return bool(same.all() if hasattr(same, "all") else same)


def _unlike(path: str, reason: str, dtype: torch.dtype | None = None) -> OutputError:
    return OutputError(
        path=f"{path or 'output'} ({reason})",
        dtype=_dtype(dtype) if dtype is not None else "",
        max_abs=0.0,
        max_rel=0.0,
        tolerance_abs=0.0,
        tolerance_rel=0.0,
        ok=False,
    )


def _kind(value: object) -> str:
    return type(value).__name__


def _dtype(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
