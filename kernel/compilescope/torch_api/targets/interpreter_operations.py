"""Replaces operations of Triton's interpreter that it lacks, or that would be slow or unsafe.

- libdevice's functions are torch's own, by name.
- bfloat16 and float8, which it keeps as plain bits, are computed in float32.
- Reductions and scans by a function of the kernel's take fewer than one step for each element.
- Every address is checked: a kernel that accesses memory outside its arguments raises an error
  instead of ending the process.

Relies on ``triton.runtime.interpreter`` (InterpreterBuilder, ReduceOps, ScanOps, TensorHandle) and
``triton.language.extra.libdevice``; the same from Triton 3.6 to 3.7.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime import interpreter

from .interpreter_errors import CannotInterpretError, KernelFaultError, OutOfTimeError
from .libdevice import FUNCTIONS, INSTRUCTIONS, INTEGERS

_FLOATS: dict[Any, torch.dtype] = {
    tl.bfloat16: torch.bfloat16,
    tl.float8e5: torch.float8_e5m2,
    tl.float8e4nv: torch.float8_e4m3fn,
    tl.float8e5b16: torch.float8_e5m2fnuz,
    tl.float8e4b8: torch.float8_e4m3fnuz,
}
"""The types that the interpreter stores as bits in unsigned integers."""


class LaunchLimits:
    """What the running launch may access, and for how long."""

    ranges: Any = np.zeros((0, 2), np.uint64)
    """Start and end of each argument's memory, in order."""
    until = 0.0
    """The deadline, by the monotonic clock."""


limits = LaunchLimits()


def replace_operations() -> None:
    """Patches the interpreter in this process permanently."""
    for name in [name for name in vars(libdevice) if not name.startswith("_")]:
        setattr(libdevice, name, functools.partial(_library_call, name))
    interpreter.ReduceOps.generic_reduce = _reduce
    interpreter.ScanOps.generic_scan = _scan
    builder = interpreter.InterpreterBuilder
    for name, replacement in _BUILDER.items():
        setattr(builder, name, functools.partialmethod(_bound(replacement), getattr(builder, name)))


# Values ---------------------------------------------------------------------------------------


def _decoded(data: Any, dtype: Any) -> Any:
    """The float32 values of numbers that are stored as bits."""
    bits = torch.from_numpy(np.array(data))
    plain = torch.int16 if bits.element_size() == 2 else torch.uint8
    return bits.view(plain).view(_FLOATS[dtype]).float().numpy()


def _encoded(data: Any, dtype: Any) -> Any:
    """Numbers rounded to the nearest value of a type that is stored as bits."""
    rounded = torch.from_numpy(np.array(data, np.float32)).to(_FLOATS[dtype])
    plain = torch.int16 if rounded.element_size() == 2 else torch.uint8
    return rounded.view(plain).numpy().view(interpreter._get_np_dtype(dtype))


def _numpy_numbers(handle: Any) -> Any:
    """A handle's numbers in a type that NumPy can compute with."""
    dtype = handle.dtype.scalar
    return _decoded(handle.data, dtype) if dtype in _FLOATS else handle.data


def _packed(data: Any, dtype: Any) -> Any:
    if dtype in _FLOATS and data.dtype != np.bool_:
        data = _encoded(data, dtype)
    return interpreter.TensorHandle(data, dtype)


def _unary(original: Any, self: Any, arg: Any, op: Any) -> Any:
    if arg.dtype.scalar not in _FLOATS:
        return original(self, arg, op)
    return _packed(op(_numpy_numbers(arg)), arg.dtype.scalar)


def _binary(original: Any, self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
    if lhs.dtype.scalar not in _FLOATS:
        return original(self, lhs, rhs, op)
    return _packed(op(_numpy_numbers(lhs), _numpy_numbers(rhs)), lhs.dtype.scalar)


def _fma(original: Any, self: Any, x: Any, y: Any, z: Any) -> Any:
    if z.dtype.scalar not in _FLOATS:
        return original(self, x, y, z)
    return _packed(_numpy_numbers(x) * _numpy_numbers(y) + _numpy_numbers(z), z.dtype.scalar)


def _clamp(original: Any, self: Any, arg: Any, low: Any, high: Any, nans: Any) -> Any:
    if arg.dtype.scalar not in _FLOATS:
        return original(self, arg, low, high, nans)
    return _packed(
        np.clip(_numpy_numbers(arg), _numpy_numbers(low), _numpy_numbers(high)), arg.dtype.scalar
    )


def _cast(original: Any, self: Any, src: Any, dst_type: Any) -> Any:
    source, destination = src.dtype.scalar, dst_type.scalar
    if source not in _FLOATS and destination not in _FLOATS:
        return original(self, src, dst_type)
    if destination in _FLOATS:
        return interpreter.TensorHandle(_encoded(_numpy_numbers(src), destination), destination)
    return interpreter.TensorHandle(
        _numpy_numbers(src).astype(interpreter._get_np_dtype(destination)), destination
    )


def _cast_float(original: Any, self: Any, src: Any, dst_type: Any, rounding: Any) -> Any:
    return self.cast_impl(src, dst_type)


def _dot(original: Any, self: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
    left, right = _numpy_numbers(a), _numpy_numbers(b)
    if np.issubdtype(left.dtype, np.floating):
        wide = np.float64 if left.dtype == np.float64 else np.float32
        product = np.matmul(left.astype(wide), right.astype(wide))
    else:
        product = np.matmul(left, right, dtype=d.data.dtype)
    total = product + _numpy_numbers(d)
    if d.dtype.scalar in _FLOATS:
        return _packed(total, d.dtype.scalar)
    return interpreter.TensorHandle(total.astype(d.data.dtype), d.dtype.scalar)


def _assembly(
    original: Any, self: Any, text: str, constraints: Any, values: Any, *rest: Any
) -> Any:
    function = INSTRUCTIONS.get(text)
    if function is None:
        raise CannotInterpretError(f"the instructions {text!r} are not emulated")
    result = function(*[torch.from_numpy(np.array(value.data)) for value in values]).numpy()
    handle = interpreter.TensorHandle(result, values[0].dtype.scalar)
    return SimpleNamespace(get_result=lambda _: handle)


def _splat(original: Any, self: Any, ret_ty: Any, arg: Any) -> Any:
    return interpreter.TensorHandle(
        np.broadcast_to(arg.data.reshape(()), ret_ty.shape).copy(), arg.dtype.scalar
    )


# Memory and time ------------------------------------------------------------------------------


def _in_time() -> None:
    if time.monotonic() > limits.until:
        raise OutOfTimeError


def _check_addresses(pointers: Any, mask: Any) -> None:
    """Raises if an accessed address lies outside all arguments."""
    _in_time()
    touched = pointers.data[np.broadcast_to(mask.data, pointers.data.shape)]
    if not touched.size:
        return
    size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
    at = np.searchsorted(limits.ranges[:, 0], touched, side="right") - 1
    if (at < 0).any() or (touched + np.uint64(size) > limits.ranges[np.maximum(at, 0), 1]).any():
        raise KernelFaultError("it accesses memory outside its arguments")


def _load(original: Any, self: Any, ptrs: Any, mask: Any, *rest: Any, **named: Any) -> Any:
    _check_addresses(ptrs, mask)
    return original(self, ptrs, mask, *rest, **named)


def _store(original: Any, self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any) -> Any:
    _check_addresses(ptrs, mask)
    return original(self, ptrs, value, mask, *rest)


def _atomic(original: Any, self: Any, op: Any, ptr: Any, value: Any, mask: Any, *rest: Any) -> Any:
    _check_addresses(ptr, mask)
    is_small_float = value.dtype.scalar in _FLOATS
    if is_small_float:
        raise CannotInterpretError(f"the interpreter has no atomic operations of {value.dtype}")
    return original(self, op, ptr, value, mask, *rest)


def _assert(original: Any, self: Any, condition: Any, message: str) -> None:
    if not condition.data.all():
        raise KernelFaultError(f"an assertion in it fails: {message}")


def _assume(original: Any, self: Any, condition: Any) -> None:
    if not condition.data.all():
        raise KernelFaultError("what it tells the compiler to assume is not so")


def _program(original: Any, self: Any, x: int, y: int, z: int) -> Any:
    _in_time()
    return original(self, x, y, z)


def _bound(replacement: Any) -> Any:
    """A function that gets the builder first, as ``partialmethod`` passes it."""

    def call(self: Any, original: Any, *args: Any, **named: Any) -> Any:
        return replacement(original, self, *args, **named)

    return call


_BUILDER: dict[str, Any] = {
    "unary_op": _unary,
    "binary_op": _binary,
    "create_fma": _fma,
    "create_clampf": _clamp,
    "cast_impl": _cast,
    "create_fp_to_fp": _cast_float,
    "create_dot": _dot,
    "create_inline_asm": _assembly,
    "create_splat": _splat,
    "create_masked_load": _load,
    "create_masked_store": _store,
    "create_atomic_rmw": _atomic,
    "create_assert": _assert,
    "create_assume": _assume,
    "set_grid_idx": _program,
}
"""Replacements for the interpreter's methods; each gets the original first."""


# Functions of libdevice -----------------------------------------------------------------------


def _library_call(name: str, *args: Any) -> Any:
    function = FUNCTIONS.get(name)
    if function is None:
        raise CannotInterpretError(f"libdevice.{name} is not emulated")
    semantic = interpreter.interpreter_semantic
    tensors = [semantic.to_tensor(arg) for arg in args]
    values = [torch.from_numpy(np.array(_numpy_numbers(tensor.handle))) for tensor in tensors]
    result = function(*values).numpy()
    dtype = INTEGERS[name] if name in INTEGERS else tensors[0].dtype
    dtype = getattr(tl, dtype) if isinstance(dtype, str) else dtype
    data = result.astype(interpreter._get_np_dtype(dtype))
    blocks = any(tensor.type.is_block() for tensor in tensors)
    return tl.tensor(
        interpreter.TensorHandle(data, dtype),
        tl.block_type(dtype, list(data.shape)) if blocks else dtype,
    )


# Reductions and scans -------------------------------------------------------------------------


def _combined(self: Any, left: Sequence[Any], right: Sequence[Any], types: Sequence[Any]) -> Any:
    """The kernel's combine function, applied to whole blocks at once."""
    arrays = [*zip(left, types, strict=True), *zip(right, types, strict=True)]
    result = self.combine_fn.fn(*[self.to_tensor(data, dtype) for data, dtype in arrays])
    parts = result if isinstance(result, tuple) else (result,)
    return [
        np.broadcast_to(
            np.asarray(getattr(part, "handle", SimpleNamespace(data=part)).data), a.shape
        )
        for part, a in zip(parts, left, strict=True)
    ]


def _reduce(self: Any, input: Any) -> Any:  # noqa: A002 - the interpreter's own name
    """Combines pairs of neighbors, then pairs of results: log2(size) steps."""
    types = [operand.dtype for operand in input]
    data = [operand.handle.data for operand in input]
    rank, axis = data[0].ndim, self.axis
    if axis is None:
        data, axis = [array.reshape(-1) for array in data], 0
    data = [np.moveaxis(array, axis, -1) for array in data]
    while (size := data[0].shape[-1]) > 1:
        left = [array[..., 0 : size - 1 : 2] for array in data]
        right = [array[..., 1:size:2] for array in data]
        paired = _combined(self, left, right, types)
        rest = [array[..., size - size % 2 :] for array in data]
        data = [np.concatenate(both, axis=-1) for both in zip(paired, rest, strict=True)]
    reduced = [array[..., 0] for array in data]
    if self.keep_dims:
        if self.axis is None:
            reduced = [array.reshape((1,) * rank) for array in reduced]
        else:
            reduced = [np.expand_dims(array, axis) for array in reduced]
    return [self.to_tensor(array, dtype) for array, dtype in zip(reduced, types, strict=True)]


def _scan(self: Any, input: Any) -> Any:  # noqa: A002 - the interpreter's own name
    """Combines every element with the one 1, 2, 4 … before it: log2(size) steps."""
    types = [operand.dtype for operand in input]
    data = [np.moveaxis(operand.handle.data, self.axis, -1) for operand in input]
    size, distance = data[0].shape[-1], 1
    place = np.arange(size)
    while distance < size:
        # Blocks must have power-of-two sizes, so elements without a predecessor are combined too,
        # and discarded.
        left = [np.roll(array, distance, axis=-1) for array in data]
        joined = _combined(self, left, data, types)
        data = [
            np.where(place < distance, array, other)
            for array, other in zip(data, joined, strict=True)
        ]
        distance *= 2
    return [
        self.to_tensor(np.moveaxis(array, -1, self.axis), dtype)
        for array, dtype in zip(data, types, strict=True)
    ]
