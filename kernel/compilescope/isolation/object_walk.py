"""Walks over all objects that a call could change, from the callable and its arguments.

The walk runs no user code: it reads types, dicts, slots and closures, never an attribute through
``getattr``, a property or ``isinstance`` (which reads ``__class__``).
"""

from __future__ import annotations

import collections
import contextvars
import functools
import io
import random
import re
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import torch

from ..torch_api.operators import tensors
from ..torch_api.trace import compiled_callable
from .global_names import Binding, named_by
from .user_code import has_followed_state, is_library_file, is_torch_machinery, is_user_class

LIMIT = 200_000
"""The number of objects after which a walk stops and reports that."""

_ATOMS = frozenset(
    {
        type(None), bool, int, float, complex, str, bytes, range, slice, type(...),
        type(NotImplemented), torch.dtype, torch.device, torch.layout, torch.memory_format,
        types.CodeType, types.ModuleType, types.FrameType, types.TracebackType,
        types.GetSetDescriptorType, types.MemberDescriptorType, types.WrapperDescriptorType,
        types.MethodDescriptorType, types.MappingProxyType,
    }
)  # fmt: skip
_ONCE = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_COLLECTIONS = (list, tuple, set, frozenset, collections.deque)
_CACHED: type = functools._lru_cache_wrapper
_INNER = re.compile(r"\._(?:parameters|buffers|modules)\['([^']*)'\]")

UNSET = object()
"""Marks an unset slot or name."""

Child = tuple[object, str]


class WalkedObjects(NamedTuple):
    """The results of a walk, nearest first. They keep the objects alive."""

    objects: list[tuple[object, str]]
    """Objects with state, each once, with their paths (``net.fc.weight``)."""
    unsaved: list[str]
    """The objects that the walk could not enter, and why."""

    def tensors(self) -> dict[str, torch.Tensor]:
        """The tensors by path; one that is reached twice has the nearer path.

        If several have the same path, those after the first have a number appended.
        """
        by_place: dict[str, torch.Tensor] = {}
        for obj, path in self.objects:
            if issubclass(type(obj), torch.Tensor):
                place, number = path, 1
                while place in by_place:
                    number += 1
                    place = f"{path} ({number})"
                by_place[place] = cast("torch.Tensor", obj)
        return by_place


def walk(
    fn: Callable[..., Any],
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    limit: int = LIMIT,
    each: Callable[[Iterator[Child]], Iterator[Child]] = iter,
) -> WalkedObjects:
    """Walks from a callable and its arguments to all objects that a call could change.

    Parameters
    ----------
    fn, args, kwargs
        The call.
    limit
        The most objects to visit; ``unsaved`` names the rest.
    each
        Iterates over what an object refers to; what it raises ends the walk.
    """
    queue: collections.deque[Child] = collections.deque(
        (value, f"args[{index}]") for index, value in enumerate(args)
    )
    queue.extend((value, name) for name, value in (kwargs or {}).items())
    queue.append((fn, _name_of(fn)))
    reached = WalkedObjects([], [])
    seen: set[int] = set()
    names: dict[int, str] = {}
    later: list[Child] = []
    while queue or later:
        obj, path = queue.popleft() if queue else later.pop(0)
        if type(obj) in _ATOMS or id(obj) in seen:
            continue
        # Last: a parameter is named after its module, and its optimizer state after that name.
        if queue and issubclass(type(obj), torch.optim.Optimizer):
            later.append((obj, path))
            continue
        if len(seen) >= limit:
            reached.unsaved.append(
                f"Objects beyond the first {limit:,} (nearest: {pretty(path)}) are not saved."
            )
            break
        seen.add(id(obj))
        reached.objects.append((obj, pretty(path)))
        if issubclass(type(obj), torch.Tensor):
            names[id(obj)] = pretty(path)
        reason = _opaque(obj)
        if reason:
            reached.unsaved.append(f"{pretty(path)}: {reason}.")
            continue
        children = each(_children(obj, path, names))
        queue.extend(child for child in children if type(child[0]) not in _ATOMS)
    return reached


def attributes_of(obj: object) -> dict[str, object] | None:
    """The instance's own ``__dict__``, bypassing its class's attribute access."""
    try:
        attributes = object.__getattribute__(obj, "__dict__")
    except AttributeError:
        return None
    return attributes if type(attributes) is dict else None


def slots_of(cls: type) -> list[types.MemberDescriptorType]:
    """The descriptors of the ``__slots__`` that a class and its bases in Python define."""
    return [
        value
        for base in cls.__mro__
        if "__slots__" in vars(base)
        for name, value in vars(base).items()
        if type(value) is types.MemberDescriptorType and name not in ("__dict__", "__weakref__")
    ]


def slot_value(obj: object, slot: types.MemberDescriptorType) -> object:
    """The value of a slot, or `UNSET`."""
    try:
        return slot.__get__(obj, type(obj))
    except AttributeError:
        return UNSET


def label(key: object, names: Mapping[int, str], number: int) -> str:
    """A dict's key as shown in a path: a tensor by its own path, other unnamed objects by number.

    A key's own ``repr`` could run the user's code.
    """
    return repr(key) if type(key) in (str, int) else names.get(id(key), f"#{number}")


def pretty(path: str) -> str:
    """A path without the internal dicts of modules."""
    return _INNER.sub(r".\1", path.removesuffix("."))


def _name_of(fn: object) -> str:
    if type(fn) in (types.FunctionType, types.MethodType, types.BuiltinFunctionType):
        return str(fn.__name__)  # type: ignore[attr-defined]
    return type(fn).__name__


def cannot_rewind(obj: object) -> bool:
    """Whether it is a generator or an iterator: a call uses it up, and it cannot be put back."""
    return _opaque(obj).endswith(_NOT_REWOUND)


_NOT_REWOUND = "cannot be rewound"


def _opaque(obj: object) -> str:
    """Why an object's state cannot be saved; empty if it can be or there is none."""
    cls = type(obj)
    if cls in _ONCE:
        return f"a {cls.__name__} {_NOT_REWOUND}"
    if issubclass(cls, io.IOBase):
        return "what is read from or written to a file is not undone"
    if issubclass(cls, threading.local):
        return "what a threading.local holds is not put back"
    if cls is contextvars.ContextVar:
        return "what a ContextVar holds is not put back"
    # The user's iterator class has its position in attributes; a library's may have it in a worker.
    if any("__next__" in vars(base) for base in cls.__mro__) and not is_user_class(cls):
        return f"an iterator ({cls.__name__}) {_NOT_REWOUND}"
    return ""


def _children(obj: Any, path: str, names: Mapping[int, str]) -> Iterator[Child]:
    cls = type(obj)
    if cls is Binding:
        return  # a tuple, but its namespace must not be walked
    if issubclass(cls, torch.Tensor):
        yield from _of_tensor(obj, path)
    elif issubclass(cls, torch.jit.ScriptModule):
        yield from _of_script_module(obj, path)
    elif issubclass(cls, dict):
        yield from _of_dict(obj, path, names)
    elif issubclass(cls, _COLLECTIONS):
        base: Any = next(base for base in cls.__mro__ if base in _COLLECTIONS)
        for index, value in enumerate(base.__iter__(obj)):
            yield value, f"{path}[{index}]"
    elif cls is types.FunctionType:
        yield from _of_function(obj, path)
    elif cls is types.MethodType:
        yield obj.__self__, path.rpartition(".")[0] or "self"
        yield obj.__func__, path
    elif cls is types.BuiltinMethodType:
        yield obj.__self__, path
    elif cls is types.CellType:
        yield from _of_cell(obj, path)
    elif cls is functools.partial:
        yield obj.func, f"{path}.func"
        yield obj.args, f"{path}.args"
        yield obj.keywords, f"{path}.keywords"
    elif cls is _CACHED:
        yield (attributes_of(obj) or {}).get("__wrapped__"), path
    elif cls in (staticmethod, classmethod):
        yield obj.__func__, path
    elif cls is property:
        for part in (obj.fget, obj.fset, obj.fdel):
            yield part, path
    elif issubclass(cls, type):
        yield from _of_class(obj, path)
    if cls.__module__ != "builtins" and not issubclass(cls, (type, weakref.ref, random.Random)):
        yield from _of_instance(obj, cls, path)


def _of_tensor(tensor: torch.Tensor, path: str) -> Iterator[Child]:
    with tensors.plain():
        grad = tensors.gradient(tensor)
    yield grad, f"{path}.grad"


def _of_script_module(module: torch.jit.ScriptModule, path: str) -> Iterator[Child]:
    """A TorchScript module's tensors, which are in C++ and not in its ``__dict__``."""
    for tensors_by_name in (module.named_parameters(), module.named_buffers()):
        for name, tensor in tensors_by_name:
            yield tensor, f"{path}.{name}"


def _of_dict(mapping: dict[Any, Any], path: str, names: Mapping[int, str]) -> Iterator[Child]:
    of_attributes = path.endswith(".")
    for number, (key, value) in enumerate(dict.items(mapping)):
        shown = label(key, names, number)
        yield value, f"{path}{key}" if of_attributes else f"{path}[{shown}]"
        yield key, f"{path}[key {shown}]"


def _of_function(function: types.FunctionType, path: str) -> Iterator[Child]:
    file = function.__code__.co_filename
    if is_torch_machinery(file):
        # It contains Dynamo's own caches: only the original function is the user's.
        yield compiled_callable.original(function), path
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield cell, name
    yield function.__defaults__, f"{path}.defaults"
    yield function.__kwdefaults__, f"{path}.defaults"
    yield function.__dict__, f"{path}."
    if not is_library_file(file):
        yield from ((value, name) for name, value in named_by(function))


def _of_cell(cell: types.CellType, path: str) -> Iterator[Child]:
    try:
        yield cell.cell_contents, path
    except ValueError:
        return  # not bound yet


def _of_class(cls: type, path: str) -> Iterator[Child]:
    if is_user_class(cls):
        for base in type.mro(cls)[1:]:
            yield base, base.__name__
        for name, value in type.__getattribute__(cls, "__dict__").items():
            if name not in ("__dict__", "__weakref__", "__doc__", "__annotations__"):
                yield value, f"{path}.{name}"


def _of_instance(obj: object, cls: type, path: str) -> Iterator[Child]:
    if is_user_class(cls):
        yield cls, cls.__name__
    if not has_followed_state(cls) and not issubclass(cls, torch.Tensor):
        return
    attributes = attributes_of(obj)
    if attributes is not None:
        yield attributes, f"{path}."
    for slot in slots_of(cls):
        value = slot_value(obj, slot)
        if value is not UNSET:
            yield value, f"{path}.{slot.__name__}"
