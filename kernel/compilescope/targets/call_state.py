"""Compares the state that a call depends on between two processes.

What is pickled by value is the same in both. What is pickled by name is imported there: a module
whose globals, functions or classes were changed since its import differs.
"""

from __future__ import annotations

import collections
import hashlib
import random
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from ..isolation.code_digest import digest_of_code
from ..isolation.global_names import Binding, named_by
from ..isolation.object_walk import UNSET, label, slot_value, slots_of, walk
from ..isolation.user_code import is_library_file, is_user_class
from ..report.errors import CompilescopeError
from ..torch_api.operators import tensors
from .packing_limits import PackingLimits

_VALUES = (
    type(None), bool, int, float, complex, str, bytes, range, torch.dtype, torch.device,
    torch.layout, torch.memory_format,
)  # fmt: skip
_ADDED = ".__slotnames__"
"""What pickle adds to a class."""

_COLLECTIONS = (list, tuple, set, frozenset, collections.deque)


def digest_of_state(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    is_sent: Callable[[torch.Tensor], bool],
    limits: PackingLimits,
) -> str:
    """A digest of everything that the walk over a call reaches: values, code, tensors.

    Parameters
    ----------
    fn, args, kwargs
        The call.
    is_sent
        Whether the data of a tensor are sent from one process to the other.
    limits
        How much is read.

    Raises
    ------
    CompilescopeError
        There is state that cannot be read, or too much.
    """
    lines = lines_of_state(fn, args, kwargs, is_sent, limits)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def lines_of_state(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    is_sent: Callable[[torch.Tensor], bool],
    limits: PackingLimits,
) -> list[str]:
    """What `digest_of_state` is a digest of, sorted: sets have another order in each process.

    Raises
    ------
    CompilescopeError
        There is state that cannot be read, such as the position of an iterator, or too much.
    """
    reached = walk(fn, args, kwargs, each=limits.each)
    if reached.unsaved:
        raise CompilescopeError("The state of the call cannot be compared.", reached.unsaved[0])
    reading = _Reading(is_sent, limits)
    lines: list[str] = []
    for obj, path in reached.objects:
        limits.check()
        if path.endswith(_ADDED):
            continue
        cls = type(obj)
        lines.append(f"{path}: {cls.__module__}.{cls.__qualname__}")
        if issubclass(cls, torch.Tensor):
            lines.append(f"{path}: {reading.tensor(obj)}")
        else:
            lines += [f"{path}{part}" for part in reading.parts(obj, cls)]
    return sorted(lines)


class _Reading:
    """Reads objects into text.

    Parameters
    ----------
    is_sent, limits
        As for `digest_of_state`.
    """

    def __init__(self, is_sent: Callable[[torch.Tensor], bool], limits: PackingLimits) -> None:
        self._is_sent = is_sent
        self._limits = limits

    def parts(self, obj: Any, cls: type) -> Iterator[str]:
        """An object's own values, not those of the objects that it refers to."""
        if cls is Binding:
            yield f" = {self._value(obj.namespace.get(obj.name, UNSET))}"
        elif issubclass(cls, dict):
            for number, (key, value) in enumerate(self._limits.each(dict.items(obj))):
                yield f"[{label(key, {}, number)}] = {self._value(value)}"
        elif issubclass(cls, _COLLECTIONS):
            # The user's class may have an iterator of its own.
            base: Any = next(base for base in cls.__mro__ if base in _COLLECTIONS)
            values = [self._value(value) for value in self._limits.each(base.__iter__(obj))]
            yield f" = {sorted(values) if base in (set, frozenset) else values}"
        elif cls is types.CellType:
            yield f" = {self._value(_contents(obj))}"
        elif cls is types.FunctionType:
            if not is_library_file(obj.__code__.co_filename):
                yield f".code = {digest_of_code(obj.__code__)}"
                for name, value in named_by(obj):
                    yield f".{name} = {self._value(value)}"
        elif issubclass(cls, type):
            if is_user_class(obj):
                for name, value in type.__getattribute__(obj, "__dict__").items():
                    if not name.startswith("__"):
                        yield f".{name} = {self._value(value)}"
        elif (numbers := _random_state(obj, cls)) is not None:
            yield f" = {hashlib.sha256(numbers.encode()).hexdigest()}"
        elif cls.__module__ == "numpy" and hasattr(cls, "__array_interface__"):
            yield f" = {obj.shape} {obj.dtype} {self._of_array(obj)}"
        if cls.__module__ != "builtins" and not issubclass(cls, type):
            for slot in slots_of(cls):
                yield f".{slot.__name__} = {self._value(slot_value(obj, slot))}"

    def _value(self, value: object) -> str:
        """A value as text; of any other object, its type."""
        cls = type(value)
        if cls in _VALUES:
            if cls in (str, bytes):
                self._limits.add(len(value))  # type: ignore[arg-type]
            return repr(value)
        if cls is types.ModuleType:
            return f"module {value.__name__}"  # type: ignore[attr-defined]
        return "unset" if value is UNSET else cls.__qualname__

    def _of_array(self, array: Any) -> str:
        """A digest of a NumPy array's numbers, in the order of its indices.

        Raises
        ------
        CompilescopeError
            It holds objects.
        """
        if array.dtype.hasobject:
            raise CompilescopeError("An array holds objects.", "Their state is not compared.")
        self._limits.add(array.nbytes)
        digest = hashlib.sha256()
        if array.flags.c_contiguous:
            self._add_to(digest, sys.modules["numpy"].asarray(array).reshape(-1).view("u1"))
        else:
            for piece in self._limits.pieces(array.size):
                digest.update(array.flat[piece].view("u1"))
        return digest.hexdigest()

    def tensor(self, tensor: Any) -> str:
        """What a tensor is, and a digest of its data unless they are sent."""
        with tensors.plain():
            if tensors.is_wrapper(tensor) or tensor.layout != torch.strided:
                return "a tensor of others"
            shown = f"{tuple(tensor.shape)} {tensor.dtype} {tensor.device} {tensor.requires_grad}"
            if tensor.is_meta or not tensor.numel() or self._is_sent(tensor):
                return shown
            self._limits.add(tensor.numel() * tensor.element_size())
            digest = hashlib.sha256()
            data = tensor.detach().contiguous().view(-1).view(torch.uint8)
            self._add_to(digest, data.numpy())
            return f"{shown} {digest.hexdigest()}"

    def _add_to(self, digest: hashlib._Hash, data: Any) -> None:
        """Adds an array of bytes to a digest."""
        for piece in self._limits.pieces(len(data)):
            digest.update(data[piece])


def _random_state(obj: Any, cls: type) -> str | None:
    """The state of a random generator as text; None for other objects."""
    if issubclass(cls, random.Random):
        return repr(random.Random.getstate(obj))
    if issubclass(cls, torch.Generator):
        return str(obj.get_state().tolist())
    if cls.__module__.startswith("numpy.random"):
        bits = getattr(obj, "bit_generator", None) or getattr(obj, "_bit_generator", obj)
        return repr(sorted(_flat(bits.state)))
    return None


def _flat(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in state.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _flat(value))
        else:
            yield name, str(value.tolist() if hasattr(value, "tolist") else value)


def _contents(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return UNSET
