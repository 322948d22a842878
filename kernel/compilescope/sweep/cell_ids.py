"""Keys of cells: the same in another kernel, different if the code is different.

A sweep is resumed by these keys, even after a restart of the notebook, when every object is new.
Code, shapes, types and settings therefore count; identities and the values of tensors do not.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import torch

from ..report.variant import Variant

_DEEP = 12
_MANY = 1000
"""How much of a container is looked at."""
_PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, slice)


def identity(*values: object) -> str:
    """What tells a call, or a factory, from others."""
    return _digest("\n".join(_Fingerprint().of(value) for value in values))


def key(subject: str, variant: Variant, arguments: str, machine: Sequence[str]) -> str:
    """The key of a cell.

    Parameters
    ----------
    subject, arguments
        Their identities.
    machine
        torch's version, and the devices.
    """
    settings = msgspec.json.encode(variant, enc_hook=repr, order="sorted").decode()
    return _digest("\n".join([subject, settings, arguments, *machine]))[:24]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


class _Fingerprint:
    """A text for a value, without the identity of anything."""

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._held: list[object] = []
        self._depth = 0

    def of(self, value: object) -> str:
        if isinstance(value, _PLAIN):
            return repr(value)
        if id(value) in self._seen or self._depth > _DEEP:
            return f"again {self._seen.get(id(value), type(value).__qualname__)}"
        self._seen[id(value)] = len(self._seen)
        self._held.append(value)  # else another may get its id
        self._depth += 1
        try:
            return self._new(value)
        finally:
            self._depth -= 1

    def _new(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return (
                f"{type(value).__name__} {value.dtype} {list(value.shape)} {value.device} "
                f"{value.layout} {value.requires_grad} {_strides(value)}"
            )
        if isinstance(value, torch.nn.Module):
            tensors = {**dict(value.named_parameters()), **dict(value.named_buffers())}
            modules = {type(module): None for module in value.modules()}
            return (
                f"{_plain(value)} {value.training} {self._mapping(tensors)} "
                f"{[self.of(module) for module in modules]}"
            )
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__} {getattr(value, '__version__', '')}"
        if isinstance(value, functools.partial):
            return f"partial {self.of(value.func)} {self.of(value.args)} {self.of(value.keywords)}"
        if isinstance(value, types.MethodType):
            return f"method {self.of(value.__func__)} of {self.of(value.__self__)}"
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, (list, tuple)):
            parts = [self.of(item) for item in value[:_MANY]]
            return f"{type(value).__name__} {len(value)} {parts}"
        attributes = getattr(value, "__dict__", None)
        held = self._mapping(attributes) if isinstance(attributes, dict) else ""
        array = f"{getattr(value, 'shape', '')} {getattr(value, 'dtype', '')}"
        return f"{type(value).__module__}.{type(value).__qualname__} {array} {held}"

    def _mapping(self, value: Mapping[Any, Any]) -> str:
        items = itertools.islice(value.items(), _MANY)
        return f"{len(value)} {[(_plain(name), self.of(item)) for name, item in items]}"

    def _function(self, function: types.FunctionType) -> str:
        name = f"{_home(function)} {function.__qualname__}"
        if _is_library(function):
            return name
        cells = [self._cell(cell) for cell in function.__closure__ or ()]
        used = {
            name: self.of(function.__globals__[name])
            for name in sorted(_names(function.__code__))
            if name in function.__globals__
        }
        return f"{name} {_code(function.__code__)} {self.of(function.__defaults__)} {cells} {used}"

    def _cell(self, cell: types.CellType) -> str:
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return "empty"

    def _class(self, value: type) -> str:
        name = f"{_home(value)} {value.__qualname__}"
        if _is_library(value):
            return name
        methods = {
            name: self.of(method)
            for name, method in vars(value).items()
            if inspect.isfunction(method)
        }
        return f"{name} {methods}"


def _home(value: Callable[..., Any]) -> str:
    return str(getattr(value, "__module__", ""))


def _is_library(value: Callable[..., Any]) -> bool:
    """Whether its code is an installed package's, which its version stands for."""
    try:
        file = inspect.getfile(value)
    except (TypeError, OSError):
        return _home(value) != "__main__"
    return "site-packages" in file or "dist-packages" in file


def _code(code: types.CodeType) -> str:
    """A code object without its location."""
    constants = [
        _code(constant) if isinstance(constant, types.CodeType) else _constant(constant)
        for constant in code.co_consts
    ]
    return _digest(f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}")


def _constant(value: object) -> str:
    # The order of a set differs between processes.
    return str(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _plain(value: object) -> str:
    """Its ``repr`` without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _names(code: types.CodeType) -> set[str]:
    inner = [
        _names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)
    ]
    return set(code.co_names).union(*inner)


def _strides(tensor: torch.Tensor) -> list[int]:
    return list(tensor.stride()) if tensor.layout == torch.strided else []
