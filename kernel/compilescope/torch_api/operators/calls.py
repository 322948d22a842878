"""Calls operators as generated wrappers call them, with the arguments that a subject passes.

A Python wrapper calls ``torch.ops``; a C++ wrapper calls ``aoti_torch_call_dispatcher``, which is
called here through ctypes, which releases the GIL as a C++ wrapper does.

Relies on ``torch.utils._python_dispatch.TorchDispatchMode``; on the C shim's
``aoti_torch_call_dispatcher``, ``aoti_torch_new_tensor_handle``, ``aoti_torch_get_dim``,
``aoti_torch_delete_tensor_object``, ``aoti_torch_device_type_cpu`` and its packing of values into
64 bits; on ``torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors``; and on
``CustomOpDef._backend_fns``: the same from 2.11 to 2.15.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import struct
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch._library import custom_ops
from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from . import tensors
from .arguments import by_name
from .tensor_copies import copied


class OperatorCall(NamedTuple):
    """A call of an operator, with copies of its arguments."""

    operator: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def name(self) -> str:
        """Its name in the profiler."""
        return str(self.operator._schema.name)

    @property
    def gpus(self) -> set[int]:
        """The numbers of the GPUs that its arguments are on."""
        arguments = (*self.args, *self.kwargs.values())
        return {
            argument.get_device()
            for argument in arguments
            if isinstance(argument, torch.Tensor) and argument.is_cuda
        }

    def __call__(self) -> Any:
        """Calls it as a Python wrapper does."""
        return self.operator(*self.args, **self.kwargs)


@contextlib.contextmanager
def recorded(names: Collection[str]) -> Iterator[dict[str, OperatorCall]]:
    """The first call of each of these operators in the block.

    Parameters
    ----------
    names
        Names with their overloads, where they have one: ``demo::scale``, ``aten::sort.stable``.
    """
    calls: dict[str, OperatorCall] = {}

    class Recorder(TorchDispatchMode):  # type: ignore[no-untyped-call]
        supports_higher_order_operators = True

        def __torch_dispatch__(
            self,
            func: Any,
            types: Any,
            args: tuple[Any, ...] = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:
            if isinstance(func, HigherOrderOperator):
                return func(*args, **(kwargs or {}))
            schema = func._schema
            overload = f".{schema.overload_name}" if schema.overload_name else ""
            name = f"{schema.name}{overload}"
            if name in names and name not in calls:
                calls[name] = OperatorCall(
                    func, tree_map(_copy, args), tree_map(_copy, dict(kwargs or {}))
                )
            return func(*args, **(kwargs or {}))

    # Under a mode Dynamo compiles nothing; flex_attention, which compiles itself, would then fail.
    stance: Any = torch.compiler.set_stance
    with stance("force_eager"), Recorder():  # type: ignore[no-untyped-call]
        yield calls


def _copy(value: Any) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    detached = value.detach()
    has_strides = (
        value.layout == torch.strided and not value.is_nested and not tensors.is_wrapper(value)
    )
    return copied(detached) if has_strides else detached.clone()


@contextlib.contextmanager
def timed_inside(operator_call: OperatorCall) -> Iterator[list[int]]:
    """The time of each call of the Python function behind an operator (ns), in the block.

    Empty if ``torch.library.custom_op`` does not know the function.
    """
    definition: Any = custom_ops.OPDEFS.get(operator_call.name)
    functions = getattr(definition, "_backend_fns", None)
    spent: list[int] = []
    if not functions:
        yield spent
        return
    before = dict(functions)
    for device, function in before.items():
        functions[device] = _timed(function, spent)
    try:
        yield spent
    finally:
        functions.update(before)


def _timed(function: Callable[..., Any], spent: list[int]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter_ns()
        try:
            return function(*args, **kwargs)
        finally:
            spent.append(time.perf_counter_ns() - start)

    return call


def is_python(operator_call: OperatorCall) -> bool:
    """Whether the function behind an operator is known to be written in Python."""
    return operator_call.name in custom_ops.OPDEFS


class Dispatched:
    """Calls an operator as a C++ wrapper does, or makes the same calls without the operator.

    Raises
    ------
    TypeError
        It takes or returns a value that is not packed into 64 bits here: a list, a string, a
        device.
    """

    def __init__(self, operator_call: OperatorCall) -> None:
        schema = operator_call.operator._schema
        self._names = schema.name.encode(), schema.overload_name.encode()
        arguments = list(by_name(schema, operator_call.args, operator_call.kwargs).values())
        if any(str(returned.type) != "Tensor" for returned in schema.returns):
            raise TypeError("It returns something else than tensors.")
        self._values = [
            _packed(argument, str(spec.type))
            for argument, spec in zip(arguments, schema.arguments, strict=True)
        ]
        own = [argument for argument in arguments if isinstance(argument, torch.Tensor)]
        # The capsules own these handles; each call gets new ones, which it consumes.
        self._capsules = torch._C._aoti.unsafe_alloc_void_ptrs_from_tensors(own)
        handles = iter([_pointer(capsule) for capsule in self._capsules])
        self._places = [
            (place, next(handles))
            for place, argument in enumerate(arguments)
            if isinstance(argument, torch.Tensor)
        ]
        self._outputs = len(schema.returns)
        self._stack: Any = (ctypes.c_uint64 * max(len(arguments), self._outputs))()
        self._library = _library()

    def close(self) -> None:
        """Releases the tensors."""
        torch._C._aoti.alloc_tensors_by_stealing_from_void_ptrs(self._capsules)

    def __call__(self) -> None:
        """Calls the operator, and frees what it returns."""
        self._fill()
        failed = self._library.aoti_torch_call_dispatcher(*self._names, self._stack)
        if failed:
            raise RuntimeError(f"{self._names[0].decode()} failed.")
        for place in range(self._outputs):
            self._library.aoti_torch_delete_tensor_object(self._stack[place])

    def without(self) -> None:
        """Makes the same calls with a shim function that does almost nothing, for comparison."""
        self._fill()
        if self._places:
            self._library.aoti_torch_get_dim(self._places[0][1], ctypes.byref(_DIM))
        else:
            self._library.aoti_torch_device_type_cpu()
        for place, _ in self._places:
            self._library.aoti_torch_delete_tensor_object(self._stack[place])

    def _fill(self) -> None:
        stack = self._stack
        for place, value in enumerate(self._values):
            stack[place] = value
        for place, handle in self._places:
            self._library.aoti_torch_new_tensor_handle(handle, ctypes.byref(_HANDLE))
            stack[place] = _HANDLE.value


_HANDLE = ctypes.c_uint64()
_DIM = ctypes.c_int64()


@functools.cache
def _library() -> Any:
    library = ctypes.CDLL(torch._C.__file__)
    pointer = ctypes.c_void_p
    library.aoti_torch_call_dispatcher.argtypes = [ctypes.c_char_p, ctypes.c_char_p, pointer]
    library.aoti_torch_new_tensor_handle.argtypes = [pointer, pointer]
    library.aoti_torch_delete_tensor_object.argtypes = [pointer]
    library.aoti_torch_get_dim.argtypes = [pointer, pointer]
    return library


def _pointer(capsule: Any) -> int:
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return int(get(capsule, name(capsule)))


def _packed(value: Any, kind: str) -> int:
    """A value packed into 64 bits for the stable C interface; tensors are filled in later."""
    if value is None or (isinstance(value, torch.Tensor) and kind == "Tensor"):
        return 0
    if kind == "bool":
        return int(value)
    if kind == "int" and isinstance(value, int):
        return value & 0xFFFF_FFFF_FFFF_FFFF
    if kind == "float" and isinstance(value, (int, float)):
        return int(struct.unpack("<Q", struct.pack("<d", float(value)))[0])
    raise TypeError(f"It takes {kind}.")
