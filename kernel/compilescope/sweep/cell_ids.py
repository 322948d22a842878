"""Keys of cells: the same in another kernel, different if the code is different.

A sweep is resumed by these keys, even after a restart of the notebook, when every object is new.
Code, shapes, types and settings therefore count; identities and the values of tensors do not.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import itertools
import logging
import numbers
import pathlib
import re
import sysconfig
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import torch

from ..report import references
from ..report.errors import CompilescopeError
from ..report.variant import Variant

_DEEP = 12
_MANY = 1000
"""How much of a container is looked at."""
_MOST = 100_000
"""How many objects are looked at: a module may refer to a data set."""
_PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes),
    *(torch.dtype, torch.device, slice, enum.Enum, numbers.Number, pathlib.PurePath),
)
_LIBRARIES = ("site-packages", "dist-packages", sysconfig.get_path("stdlib"))
_OF_EACH_MODULE = frozenset(vars(torch.nn.Module())) - {"training"}


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
    by_code = msgspec.structs.replace(
        variant, backend=_by_code(variant.backend), options=_by_code(variant.options)
    )
    settings = msgspec.json.encode(by_code, enc_hook=repr, order="sorted").decode()
    return _digest("\n".join([subject, settings, arguments, *machine]))[:24]


def _by_code(setting: Any) -> Any:
    """A setting with what tells its functions from others of the same name."""
    if isinstance(setting, (list, tuple)):
        return [_by_code(item) for item in setting]
    if isinstance(setting, dict):
        return {name: _by_code(item) for name, item in setting.items()}
    if not references.is_reference(setting):
        return setting
    # Its number depends on what else had that name in this process.
    name = re.sub(r" #\d+$", "", references.name_of(setting))
    try:
        return f"{name} {identity(references.resolve(setting))}"
    except CompilescopeError:
        return name


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
        if id(value) in self._seen or self._depth > _DEEP or len(self._seen) > _MOST:
            return f"again {self._seen.get(id(value), type(value).__qualname__)}"
        self._seen[id(value)] = len(self._seen)
        self._held.append(value)  # else another may get its id
        self._depth += 1
        try:
            return self._new(value)
        except Exception:  # noqa: BLE001 - an object may refuse to be looked at
            return f"unreadable {type(value).__qualname__}"
        finally:
            self._depth -= 1

    def _new(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return (
                f"{type(value).__name__} {value.dtype} {list(value.shape)} {value.device} "
                f"{value.layout} {value.requires_grad} {_strides(value)}"
            )
        if isinstance(value, torch.nn.Module):
            return self._module(value)
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
        if isinstance(value, (set, frozenset)):
            # Their order differs between processes.
            return f"{type(value).__name__} {sorted(map(_plain, value))[:_MANY]}"
        if isinstance(value, logging.Logger):
            return f"logger {value.name}"
        array = f"{getattr(value, 'shape', '')} {getattr(value, 'dtype', '')}"
        return f"{self.of(type(value))} {array} {self._mapping(_attributes(value))}"

    def _module(self, module: torch.nn.Module) -> str:
        tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        # Not one within another: they may be deeper than what is looked at.
        members = [f"{name} {self._member(member)}" for name, member in module.named_modules()]
        return f"{_plain(module)} {self._mapping(tensors)} {members}"

    def _member(self, module: torch.nn.Module) -> str:
        """A module without its tensors and its modules."""
        state = _attributes(module)
        own = {name: state[name] for name in sorted(state) if name not in _OF_EACH_MODULE}
        # Their numbers differ between processes.
        hooks = {
            name: list(state[name].values())
            for name in sorted(_OF_EACH_MODULE)
            if "_hooks" in name and state.get(name)
        }
        return f"{self.of(type(module))} {self._mapping(own)} {self._mapping(hooks)}"

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
        defaults = [self.of(function.__defaults__), self.of(function.__kwdefaults__)]
        return f"{name} {_code(function.__code__)} {defaults} {cells} {used}"

    def _cell(self, cell: types.CellType) -> str:
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return "empty"

    def _class(self, value: type) -> str:
        name = f"{_home(value)} {value.__qualname__}"
        if _is_library(value):
            return name
        members = {
            name: self.of(_unwrapped(member))
            for name, member in vars(value).items()
            if not name.startswith("__") or inspect.isfunction(_unwrapped(member))
        }
        return f"{name} {members} {[self.of(base) for base in value.__bases__]}"


def _unwrapped(member: Any) -> Any:
    """The functions of a class's member; the member itself where it has none."""
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    if isinstance(member, property):
        return member.fget, member.fset, member.fdel
    if isinstance(member, functools.cached_property):
        return member.func
    return member


def _attributes(value: object) -> dict[str, Any]:
    """Its attributes, without those that are computed at their first use."""
    slots = [
        name
        for kind in type(value).__mro__
        for name in _names_of(vars(kind).get("__slots__", ()))
        if name not in ("__dict__", "__weakref__") and hasattr(value, name)
    ]
    attributes = {name: getattr(value, name) for name in slots} | getattr(value, "__dict__", {})
    return {
        name: attribute
        for name, attribute in attributes.items()
        if not isinstance(getattr(type(value), str(name), None), functools.cached_property)
    }


def _names_of(slots: str | Sequence[str]) -> Sequence[str]:
    return (slots,) if isinstance(slots, str) else tuple(slots)


def _home(value: Callable[..., Any]) -> str:
    return str(getattr(value, "__module__", ""))


def _is_library(value: Callable[..., Any]) -> bool:
    """Whether its code is an installed package's or Python's, which a version stands for."""
    if _home(value) == "__main__":
        return False
    try:
        file = inspect.getfile(value)
    except (TypeError, OSError):
        return True
    return any(folder in file for folder in _LIBRARIES)


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
