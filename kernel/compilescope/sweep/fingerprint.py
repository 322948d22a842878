"""Fingerprints of values: equal in every process, different if code or settings differ."""

from __future__ import annotations

import contextlib
import copyreg
import enum
import functools
import hashlib
import inspect
import io
import logging
import numbers
import pathlib
import re
import sys
import threading
import types
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from ..torch_api.operators import custom
from ..torch_api.trace import compiled_callable
from . import code_files, code_names

_MAX_DEPTH = 60
_MAX_VALUES = 200_000
"""The maximum number of values that are read: a module may refer to a data set."""
_MAX_ARRAY_BYTES = 1 << 30
"""The size of the largest array whose values are compared."""
_MAX_UNHASHED = 200
_PLAIN = (
    *(type(None), bool, int, float, complex, str, bytes, bytearray, type(...)),
    *(slice, range, enum.Enum, numbers.Number, pathlib.PurePath),
    *(torch.dtype, torch.device, torch.layout, torch.memory_format, torch.finfo, torch.iinfo),
)
_NATIVE = (
    *(types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType),
    *(types.MethodDescriptorType, types.ClassMethodDescriptorType),
    *(types.GetSetDescriptorType, types.MemberDescriptorType),
)
_STATELESS = (type(threading.Lock()), type(threading.RLock()), io.IOBase, logging.Handler)
"""Types whose instances do not affect what a call computes."""
_OF_EACH_MODULE = frozenset(vars(torch.nn.Module())) - {"training"}
_OF_THE_PROCESS = frozenset({"_abc_impl", "_backward_cls", "_autograd_function_id"})
"""Members of a class that differ between processes."""
_DYNAMIC = frozenset({"eval", "exec", "globals", "__import__"})
"""Builtins with which code reads values that its names do not show."""
_OF_TORCH = frozenset(
    {"aten", "prim", "prims", "quantized", "inductor", "higher_order", "c10d", "_c10d_functional"}
)
"""Namespaces of torch's own operators."""
_MISSING = object()


class _UnidentifiedError(Exception):
    """No text can identify the value."""


class Fingerprint:
    """A text for a value, without the identity of anything.

    A value without one, such as a generator, has a text that is new each time: what depends on it
    is never the same.
    """

    def __init__(self) -> None:
        self._seen: dict[int, int] = {}
        self._held: list[object] = []
        self._depth = 0
        self._number = 0

    def text_of(self, value: object) -> str:
        """Its text."""
        self._number += 1
        if self._number > _MAX_VALUES:
            return _unidentified()
        if isinstance(value, _PLAIN):
            return _short(f"{type(value).__name__} {value!r}")
        if id(value) in self._seen:
            return f"again {self._seen[id(value)]}"
        if self._depth > _MAX_DEPTH:
            return _unidentified()
        self._seen[id(value)] = len(self._seen)
        self._held.append(value)  # else another may get its id
        self._depth += 1
        try:
            return _short(self._new(value))
        except Exception:  # noqa: BLE001 - an object may refuse to be read
            return _unidentified()
        finally:
            self._depth -= 1

    def _new(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            kind = type(value)
            named = kind.__name__ if code_files.is_library(kind) else self.text_of(kind)
            return (
                f"{named} {value.dtype} {list(value.shape)} {value.device} "
                f"{value.layout} {value.requires_grad} {_strides(value)}"
            )
        if (operator := custom.name_of(value)) is not None:
            return self._operator(operator)
        if isinstance(value, types.ModuleType):
            return self._python_module(value)
        if isinstance(value, torch.fx.Graph):
            targets = [self.text_of(node.target) for node in value.nodes if callable(node.target)]
            return f"graph {value} {targets}"
        if isinstance(value, torch.nn.Module):
            inner = compiled_callable.original(value)
            return self._module(inner if isinstance(inner, torch.nn.Module) else value)
        if isinstance(value, functools.partial):
            parts = (value.func, value.args, value.keywords)
            return f"partial {' '.join(map(self.text_of, parts))}"
        if isinstance(value, types.MethodType):
            return f"method {self.text_of(value.__func__)} of {self.text_of(value.__self__)}"
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.CodeType):
            return _code(value)
        if isinstance(value, _NATIVE):
            return self._native(value)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, weakref.ref):
            return f"reference to {self.text_of(value())}"
        if isinstance(value, logging.Logger):
            return f"logger {value.name}"
        if isinstance(value, _STATELESS):
            return type(value).__qualname__
        return self._container(value) or self._object(value)

    def _container(self, value: Any) -> str:
        """The text of a container or of a NumPy array; empty for anything else."""
        kind = "" if type(value) in (list, tuple, dict, set, frozenset) else self._instance(value)
        if isinstance(value, Mapping):
            return f"mapping {kind} {self._mapping(value)}"
        if isinstance(value, (list, tuple)):
            return f"{type(value).__name__} {kind} {[self.text_of(item) for item in value]}"
        if isinstance(value, (set, frozenset)):
            # Their order differs between processes.
            return f"{type(value).__name__} {kind} {sorted(map(self._independent_text, value))}"
        numpy = sys.modules.get("numpy")
        if numpy is None or not isinstance(value, numpy.ndarray):
            return ""
        if value.dtype.hasobject:
            return f"array {kind} {value.shape} {self.text_of(value.tolist())}"
        if value.nbytes > _MAX_ARRAY_BYTES:
            raise _UnidentifiedError
        content = hashlib.sha256(numpy.ascontiguousarray(value).view(numpy.uint8)).hexdigest()
        return f"array {kind} {value.dtype.descr} {value.shape} {value.strides} {content}"

    def _independent_text(self, value: object) -> str:
        """A text that does not depend on what was read before."""
        if isinstance(value, _PLAIN):
            return self.text_of(value)
        alone = Fingerprint()
        alone._number, alone._depth = self._number, self._depth + 1
        text = alone.text_of(value)
        self._number = alone._number
        return text

    def _instance(self, value: Any) -> str:
        return f"{self.text_of(type(value))} {self._mapping(_attributes(value))}"

    def _object(self, value: Any) -> str:
        if code_files.module_name(type(value)).startswith("triton.") and hasattr(value, "fn"):
            # It also has what it compiled so far.
            plain = {
                name: item
                for name, item in _attributes(value).items()
                if name == "configs" or (isinstance(item, _PLAIN) and name != "hash")
            }
            return f"{self.text_of(type(value))} {self.text_of(value.fn)} {self._mapping(plain)}"
        text = self._instance(value)
        if not _has_native_state(type(value)):
            return text
        reduce = copyreg.dispatch_table.get(type(value))
        state = reduce(value) if reduce is not None else value.__reduce_ex__(2)
        if isinstance(state, str):
            return f"{text} {state}"
        parts = [list(part) if isinstance(part, Iterator) else part for part in state]
        return f"{text} {self.text_of(parts)}"

    def _native(self, value: Any) -> str:
        """A function in C, by its name, the module or object that it is bound to, and its file."""
        owner = getattr(value, "__self__", None)
        of = owner.__name__ if isinstance(owner, types.ModuleType) else self.text_of(owner)
        home = code_files.module_name(value) or code_files.module_name(
            getattr(value, "__objclass__", None)
        )
        home = home or (owner.__name__ if isinstance(owner, types.ModuleType) else "")
        by = self.text_of(getattr(value, "__objclass__", None))
        if not home or code_files.is_library_module(home):
            file = code_files.version(home)
        elif isinstance(value, types.BuiltinFunctionType):
            file = code_files.extension_file(home)
        else:
            file = ""
        return f"native {home} {by} {value.__qualname__} {of} {file}"

    def _operator(self, name: str) -> str:
        """An operator by its name, and by its functions if they are in Python."""
        if name.partition("::")[0] in _OF_TORCH:
            return f"operator {name}"
        if name not in custom.defined():
            raise _UnidentifiedError
        definition = custom.definition_of(name)
        gradient = definition.setup_context, definition.backward
        functions = [definition.function, definition.fake, *gradient]
        return f"operator {name} {definition.schema} {[self.text_of(each) for each in functions]}"

    def _python_module(self, module: types.ModuleType) -> str:
        """A module that is not read by names: all that is in it."""
        if code_files.is_library(module):
            return f"module {module.__name__} {code_files.version(module.__name__)}"
        if module.__name__ == "__main__":
            raise _UnidentifiedError
        members = {
            name: member
            for name, member in sorted(vars(module).items())
            if not (name.startswith("__") and name.endswith("__"))
        }
        return f"module {module.__name__} {self._mapping(members)}"

    def _module(self, module: torch.nn.Module) -> str:
        tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        # Not one within another: they may be deeper than `_MAX_DEPTH`.
        members = [f"{name} {self._member(member)}" for name, member in module.named_modules()]
        return f"{_repr_without_addresses(module)} {self._mapping(tensors)} {members}"

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
        return f"{self.text_of(type(module))} {self._mapping(own)} {self._mapping(hooks)}"

    def _mapping(self, value: Mapping[Any, Any]) -> str:
        items = [(self.text_of(name), self.text_of(item)) for name, item in value.items()]
        return f"{len(value)} {items}"

    def _function(self, function: types.FunctionType) -> str:
        name = f"{code_files.module_name(function)} {function.__qualname__}"
        inner = compiled_callable.wrapped_callable(function)
        if inner is not None and code_files.is_library(function):
            return f"wrapped {name} {_code(function.__code__)} {self.text_of(inner)}"
        parts = [
            *map(self.text_of, (function.__defaults__, function.__kwdefaults__)),
            *(
                # What is read of a module is looked at with the code.
                f"{name} {'' if isinstance(value, types.ModuleType) else self.text_of(value)}"
                for name, value in _enclosing(function).items()
            ),
            self._mapping(vars(function)),
        ]
        name = f"{name} {_code(function.__code__)} {parts}"
        if code_files.is_library(function):
            # A decorator's function has the decorated one in it.
            return f"{name} {code_files.version(code_files.module_name(function))}"
        package = str(function.__globals__.get("__package__") or "")
        imported = [
            code_files.package_code(package)
            for package in sorted(code_names.imported_packages(function.__code__, package))
        ]
        return f"{name} {self._read(function)} {imported}"

    def _read(self, function: types.FunctionType) -> list[str]:
        """What a function reads of its module and of others; of modules these attributes alone."""
        read = []
        enclosing = _enclosing(function)
        for chain in sorted(code_names.chains(function.__code__)):
            name, *attributes = chain
            value = enclosing.get(name, function.__globals__.get(name, _MISSING))
            if value is _MISSING:
                if name in _DYNAMIC and not attributes:
                    raise _UnidentifiedError
                continue
            if value is torch and attributes[:1] == ["ops"]:
                read.append(f"{chain} {self._operators(attributes[1:])}")
            elif isinstance(value, types.ModuleType):
                read.append(f"{chain} {self._attribute(value, attributes)}")
            elif name in function.__globals__:
                read.append(f"{name} {self.text_of(value)}")
        return read

    def _attribute(self, module: types.ModuleType, attributes: Sequence[str]) -> str:
        """What attributes of a module lead to, until one is not a module."""
        value: Any = module
        for name in attributes:
            if not isinstance(value, types.ModuleType) or code_files.is_library(value):
                break
            if name not in vars(value):
                if "__getattr__" in vars(value):
                    raise _UnidentifiedError
                return f"no {name}"
            value = vars(value)[name]
        return self.text_of(value)

    def _operators(self, names: Sequence[str]) -> str:
        """An operator that is read from ``torch.ops``."""
        if names and names[0] in _OF_TORCH:
            return ""
        if len(names) < 2:
            raise _UnidentifiedError
        return self._operator("::".join(names[:2]))

    def _class(self, value: type) -> str:
        name = f"{code_files.module_name(value)} {value.__qualname__}"
        if code_files.is_library(value):
            return f"{name} {code_files.version(code_files.module_name(value))}"
        members = {
            name: self.text_of(_unwrapped(member))
            for name, member in vars(value).items()
            if name not in _OF_THE_PROCESS
            and (not name.startswith("__") or inspect.isroutine(_unwrapped(member)))
        }
        return f"{name} {members} {[self.text_of(base) for base in value.__bases__]}"


def _unidentified() -> str:
    return f"not identified {uuid.uuid4()}"


def _short(text: str) -> str:
    """A text that can be part of others: their quotes would grow with every level."""
    return (
        text
        if len(text) < _MAX_UNHASHED
        else hashlib.sha256(text.encode(errors="replace")).hexdigest()
    )


def _enclosing(function: types.FunctionType) -> dict[str, Any]:
    """The variables of enclosing functions that have a value."""
    values = {}
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        with contextlib.suppress(ValueError):  # it is empty
            values[name] = cell.cell_contents
    return values


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
    attributes = {
        name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)
    } | getattr(value, "__dict__", {})
    return {
        name: attribute
        for name, attribute in attributes.items()
        if not isinstance(getattr(type(value), str(name), None), functools.cached_property)
    }


def _slots(kind: type) -> list[str]:
    slots: list[str] = copyreg._slotnames(kind)  # type: ignore[attr-defined]
    return slots


def _has_native_state(kind: type) -> bool:
    """Whether instances have more than their attributes: what C code keeps in them."""
    # The same sum as that of object.__reduce_ex__.
    pointer = tuple.__itemsize__
    size = object.__basicsize__ + pointer * len(_slots(kind))
    size += pointer * ((kind.__dictoffset__ > 0) + (kind.__weakrefoffset__ > 0))
    return kind.__itemsize__ != 0 or kind.__basicsize__ > size


def _code(code: types.CodeType) -> str:
    """A code object without its location."""
    constants = [
        _code(constant) if isinstance(constant, types.CodeType) else _constant(constant)
        for constant in code.co_consts
    ]
    handlers = getattr(code, "co_exceptiontable", b"").hex()
    names = f"{code.co_names} {code.co_varnames} {code.co_freevars}"
    return _short(f"{code.co_code.hex()} {handlers} {names} {constants}".ljust(_MAX_UNHASHED))


def _constant(value: object) -> str:
    # The order of a set differs between processes.
    return str(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)


def _repr_without_addresses(value: object) -> str:
    """Its ``repr`` without addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def _strides(tensor: torch.Tensor) -> list[int]:
    return list(tensor.stride()) if tensor.layout == torch.strided else []
