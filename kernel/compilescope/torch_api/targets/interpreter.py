"""Extends Triton's interpreter to run the kernels that Inductor generates.

It runs in a separate process, with ``TRITON_INTERPRET=1`` in the environment before Triton is
imported, and changes Triton there permanently. It adds what Triton's interpreter lacks and these
kernels need:

- libdevice's functions: torch's own, by name;
- arithmetic, casts and products of bfloat16 and float8, which it keeps as plain bits;
- reductions and scans by a function of the kernel's in fewer than one step for each element;
- a check of every address: a kernel that accesses memory outside its arguments raises an error
  instead of ending the process.

Relies on ``triton.runtime.interpreter`` (InterpreterBuilder, InterpretedFunction, ReduceOps,
ScanOps, TensorHandle), ``triton.language.extra.libdevice`` and
``torch._inductor.runtime.triton_heuristics`` (CachingAutotuner, GridExpr); the same from Triton 3.6
to 3.7.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from triton.language.extra import libdevice
from triton.runtime import interpreter

from . import random_numbers as target_random
from .libdevice import FUNCTIONS, INSTRUCTIONS, INTEGERS

_FLOATS: dict[Any, torch.dtype] = {
    tl.bfloat16: torch.bfloat16,
    tl.float8e5: torch.float8_e5m2,
    tl.float8e4nv: torch.float8_e4m3fn,
    tl.float8e5b16: torch.float8_e5m2fnuz,
    tl.float8e4b8: torch.float8_e4m3fnuz,
}
"""The types that the interpreter stores as bits in unsigned integers."""


class CannotInterpretError(Exception):
    """The interpreter cannot run the kernel; the message is the end of a sentence that says why."""


class KernelFaultError(Exception):
    """The kernel is faulty: one of its assertions fails, or it accesses memory of no argument."""


class OutOfTimeError(Exception):
    """The kernel did not finish in time."""


class Kernel:
    """A generated kernel that the interpreter runs.

    Parameters
    ----------
    name, source
        As in the wrapper.
    folder
        The folder for the source, which the interpreter reads from a file.
    """

    def __init__(self, name: str, source: str, folder: Path) -> None:
        path = folder / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        namespace: dict[str, Any] = {"__file__": str(path), "__name__": name}
        exec(compile(source, str(path), "exec"), namespace)
        self._tuner: Any = namespace[name]
        if not isinstance(self._tuner, triton_heuristics.CachingAutotuner):
            raise CannotInterpretError("it is not a Triton kernel of one body")
        self.parameters: list[str] = list(self._tuner.fn.arg_names)

    def plan(self, args: Sequence[Any]) -> tuple[Any, int]:
        """The launch configuration with the fewest blocks, and the number of blocks."""
        plans = [(self._grid(args, config)[1], config) for config in self._tuner.configs]
        grid, config = min(plans, key=lambda plan: int(np.prod(plan[0])))
        return config, int(np.prod(grid))

    def constants(self, config: Any) -> dict[str, Any]:
        """The constants that the configuration sets: block sizes."""
        return dict(config.kwargs)

    def run(self, args: Sequence[Any], config: Any, seconds: float) -> None:
        """One launch, on tensors of the CPU.

        Raises
        ------
        CannotInterpretError, KernelFaultError, OutOfTimeError
        """
        arguments, grid = self._grid(args, config)
        _state.ranges = _ranges(args)
        _state.until = time.monotonic() + seconds
        constants = {
            name: value for name, value in config.kwargs.items() if name in self.parameters
        }
        try:
            with np.errstate(all="ignore"):
                self._tuner.fn[tuple(grid)](*arguments, **constants)
        except Exception as error:
            raise _cause(error) from error

    def _grid(self, args: Sequence[Any], config: Any) -> tuple[Sequence[Any], Sequence[int]]:
        arguments, grid = self._tuner._interpret_args_grid(tuple(args), config)
        return arguments, [int(size) for size in grid]


def install() -> None:
    """Patches Triton in this process. Call it once, before a kernel is loaded.

    Raises
    ------
    CannotInterpretError
        Triton was imported without ``TRITON_INTERPRET=1``.
    """
    if not triton.knobs.runtime.interpret:
        raise CannotInterpretError("Triton was not started as an interpreter")
    triton_helpers.set_driver_to_gpu = lambda: None
    triton_helpers.x_grid_barrier = _grid_barrier
    triton_helpers.constexpr_next_power_of_2 = lambda n: triton.next_power_of_2(_number(n))
    triton_helpers.if_mask = lambda mask, value: None if _number(mask) is None else value
    _patch_once()
    # A GPU's integers wrap around.
    interpreter.interpreter_builder.options = dataclasses.replace(
        interpreter.interpreter_builder.options, sanitize_overflow=False
    )
    for name in [name for name in vars(libdevice) if not name.startswith("_")]:
        setattr(libdevice, name, functools.partial(_library_call, name))
    interpreter.ReduceOps.generic_reduce = _reduce
    interpreter.ScanOps.generic_scan = _scan
    builder = interpreter.InterpreterBuilder
    for name, replacement in _BUILDER.items():
        setattr(builder, name, functools.partialmethod(_bound(replacement), getattr(builder, name)))


def random_numbers(mode: str, seed: int, count: int, *, lanes: bool) -> torch.Tensor:
    """Inductor's random numbers, computed directly with Triton's Philox.

    Parameters
    ----------
    mode
        ``rand`` or ``randn``.
    lanes
        Whether number ``i`` is one of the four at offset ``i // 4``, as from ``rand4x``; otherwise
        it is the one at offset ``i``, as from ``rand``.
    """
    if lanes:
        kernel = target_random.uniform_lanes if mode == "rand" else target_random.normal_lanes
    else:
        kernel = target_random.uniform if mode == "rand" else target_random.normal
    out = torch.empty(_padded(count))
    _draw(kernel, out, seed)
    return out[:count]


def random_integers(low: int, high: int, seed: int, count: int) -> torch.Tensor:
    """The same of integers, from ``low`` to below ``high``."""
    out = torch.empty(_padded(count), dtype=torch.int64)
    bounds = [torch.tensor([number], dtype=torch.int64) for number in (low, high)]
    _draw(target_random.integers, out, seed, *bounds)
    return out[:count]


_BLOCK = 1024


def _padded(count: int) -> int:
    return -(-count // _BLOCK) * _BLOCK


def _draw(kernel: Any, out: torch.Tensor, seed: int, *rest: Any) -> None:
    _state.ranges, _state.until = _ranges([out, *rest]), math.inf
    with np.errstate(all="ignore"):
        kernel[(out.numel() // _BLOCK,)](out, seed, *rest, BLOCK=_BLOCK)


_state = SimpleNamespace(ranges=np.zeros((0, 2), np.uint64), until=0.0)
"""For the running launch: the address ranges of its arguments, and its deadline."""


def _ranges(args: Sequence[Any]) -> Any:
    """Start and end of each argument's memory, in order."""
    storages = [arg.untyped_storage() for arg in args if isinstance(arg, torch.Tensor)]
    spans = {
        (storage.data_ptr(), storage.data_ptr() + storage.nbytes())
        for storage in storages
        if storage.nbytes()
    }
    return np.array(sorted(spans), np.uint64).reshape(-1, 2)


def _cause(error: BaseException | None) -> Exception:
    """The original error in the kernel, which the interpreter wraps once for each function."""
    wrapped = error
    while isinstance(wrapped, triton.runtime.errors.InterpreterError) and wrapped.__cause__:
        wrapped = wrapped.__cause__
    if isinstance(wrapped, (CannotInterpretError, KernelFaultError, OutOfTimeError)):
        return wrapped
    if isinstance(wrapped, NotImplementedError):
        return CannotInterpretError(f"Triton's interpreter says: {wrapped}")
    return CannotInterpretError(
        f"Triton's interpreter fails with {type(wrapped).__name__}: {wrapped}"
    )


def _patch_once() -> None:
    """Patches Triton's language once for the process instead of for each called function."""
    stand_in = SimpleNamespace(__globals__={"tl": tl, "core": tl.core})
    interpreter._patch_lang(stand_in)
    # Triton 3.6 converts a one-element array to a number, which NumPy 2.4 refuses.
    tl.tensor.__index__ = lambda self: int(self.handle.data.item())
    interpreter._patch_lang = lambda fn: interpreter._LangPatchScope()


def _number(value: Any) -> Any:
    """The value of a compiler constant; most are plain values here."""
    return value.value if isinstance(value, tl.constexpr) else value


def _grid_barrier(sem: Any) -> None:
    raise CannotInterpretError(
        "its blocks wait for each other, and the interpreter runs one after the other"
    )


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
    if time.monotonic() > _state.until:
        raise OutOfTimeError


def _check_addresses(pointers: Any, mask: Any) -> None:
    """Raises if an accessed address lies outside all arguments."""
    _in_time()
    touched = pointers.data[np.broadcast_to(mask.data, pointers.data.shape)]
    if not touched.size:
        return
    size = max(1, pointers.get_element_ty().primitive_bitwidth // 8)
    at = np.searchsorted(_state.ranges[:, 0], touched, side="right") - 1
    if (at < 0).any() or (touched + np.uint64(size) > _state.ranges[np.maximum(at, 0), 1]).any():
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
