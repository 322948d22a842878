"""Saves Python objects by a shallow copy and restores them in place, keeping identities."""

from __future__ import annotations

import array
import collections
import random
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import torch

from .global_names import Binding
from .object_walk import UNSET, slot_value, slots_of
from .user_code import has_followed_state, is_user_class

_REFILLABLE = (list, set, collections.deque, bytearray)


class Change(NamedTuple):
    """A part of an object that differs from the saved state."""

    suffix: str = ""
    """The suffix of the object's path; empty for the object as a whole."""
    value: object = UNSET
    """The current value, if there is one."""
    key: object = UNSET
    """The key of a dict's item, in place of a suffix."""


class Saved(Protocol):
    """The state of one object."""

    def restore(self) -> None:
        """Restores the state; writes only changed parts."""

    def changed(self) -> Iterator[Change]:
        """The differences from the saved state; changes nothing."""


def save(obj: object) -> list[Saved]:
    """Saves an object's own state, not the objects that it refers to."""
    cls = type(obj)
    saveds: list[Saved] = []
    if cls is Binding:
        saveds.append(SavedBinding(obj))  # type: ignore[arg-type]
    elif cls is types.CellType:
        saveds.append(SavedCell(obj))  # type: ignore[arg-type]
    elif cls is types.FunctionType:
        saveds.append(SavedFunction(obj))  # type: ignore[arg-type]
    elif issubclass(cls, dict):
        saveds.append(SavedDict(obj))  # type: ignore[arg-type]
    elif issubclass(cls, _REFILLABLE):
        saveds.append(SavedItems(obj))
    elif issubclass(cls, array.array):
        saveds.append(SavedNumbers(obj))  # type: ignore[arg-type]
    elif issubclass(cls, type):
        if is_user_class(obj):  # type: ignore[arg-type]
            saveds.append(SavedClass(obj))  # type: ignore[arg-type]
    elif issubclass(cls, torch.Generator):
        saveds.append(SavedGenerator(obj))  # type: ignore[arg-type]
    elif issubclass(cls, random.Random):
        saveds.append(SavedRandom(obj))  # type: ignore[arg-type]
    elif cls.__module__.partition(".")[0] == "numpy":
        saveds.extend(_numpy(obj))
    if cls.__module__ != "builtins" and not issubclass(cls, type) and has_followed_state(cls):
        saveds.append(SavedInstance(obj))
    return saveds


class SavedBinding:
    """A global that the code may rebind or delete."""

    def __init__(self, binding: Binding) -> None:
        self.namespace, self.name = binding
        self.value = self.namespace.get(self.name, UNSET)

    def changed(self) -> Iterator[Change]:
        """Whether the name is bound to another object."""
        now = self.namespace.get(self.name, UNSET)
        if now is not self.value:
            yield Change(value=now)

    def restore(self) -> None:
        """Binds the name to the old object, or unbinds it."""
        if self.namespace.get(self.name, UNSET) is self.value:
            return
        if self.value is UNSET:
            del self.namespace[self.name]
        else:
            self.namespace[self.name] = self.value


class SavedCell:
    """A variable that a closure shares."""

    def __init__(self, cell: types.CellType) -> None:
        self.cell = cell
        self.value = self._contents()

    def _contents(self) -> object:
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNSET

    def changed(self) -> Iterator[Change]:
        """Whether the variable is bound to another object."""
        now = self._contents()
        if now is not self.value:
            yield Change(value=now)

    def restore(self) -> None:
        """Binds the variable to the old object, or unbinds it."""
        if self._contents() is self.value:
            return
        if self.value is UNSET:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = self.value


class SavedFunction:
    """A function's defaults; its ``__dict__`` and its closure are saved separately."""

    def __init__(self, function: types.FunctionType) -> None:
        self.function = function
        self.defaults = function.__defaults__
        self.keyword_defaults = function.__kwdefaults__

    def changed(self) -> Iterator[Change]:
        """Whether there are other defaults."""
        function = self.function
        if (
            function.__defaults__ is not self.defaults
            or function.__kwdefaults__ is not self.keyword_defaults
        ):
            yield Change(".defaults")

    def restore(self) -> None:
        """Writes only on a change: assigning ``__defaults__`` makes Dynamo recheck guards."""
        if self.function.__defaults__ is not self.defaults:
            self.function.__defaults__ = self.defaults
        if self.function.__kwdefaults__ is not self.keyword_defaults:
            self.function.__kwdefaults__ = self.keyword_defaults


class SavedDict:
    """A dict's items and their order, through the builtin's methods and not the subclass's."""

    def __init__(self, mapping: dict[Any, Any]) -> None:
        self.mapping = mapping
        ordered = issubclass(type(mapping), collections.OrderedDict)
        self.base = collections.OrderedDict if ordered else dict
        self.items = list(self.base.items(mapping))

    def changed(self) -> Iterator[Change]:
        """The items that were added, removed or replaced; the dict itself if some were moved."""
        now = list(self.base.items(self.mapping))
        if self._unchanged(now):
            return
        # By identity: comparing or hashing keys would run their code.
        before = {id(key): (key, value) for key, value in self.items}
        after = {id(key): (key, value) for key, value in now}
        any_changed = False
        for number, (key, value) in after.items():
            if number not in before or before[number][1] is not value:
                any_changed = True
                yield Change(key=key, value=value)
        for number, (key, _) in before.items():
            if number not in after:
                any_changed = True
                yield Change(key=key)
        if not any_changed:
            yield Change()

    def _unchanged(self, now: list[tuple[Any, Any]]) -> bool:
        return len(now) == len(self.items) and all(
            a is c and b is d for (a, b), (c, d) in zip(now, self.items, strict=True)
        )

    def restore(self) -> None:
        """Refills the dict if an item was added, removed, moved or replaced."""
        now = list(self.base.items(self.mapping))
        if self._unchanged(now):
            return
        if [id(key) for key, _ in now] != [id(key) for key, _ in self.items]:
            self.base.clear(self.mapping)
        for key, value in self.items:
            self.base.__setitem__(self.mapping, key, value)


class SavedItems:
    """The items of a list, set, deque or bytearray."""

    def __init__(self, items: Any) -> None:
        self.items = items
        self.base: Any = next(base for base in type(items).__mro__ if base in _REFILLABLE)
        self.copy = list(self.base.__iter__(items))

    def changed(self) -> Iterator[Change]:
        """Whether an item was added, removed, moved or replaced."""
        if not self._unchanged():
            yield Change(value=self.items)

    def _unchanged(self) -> bool:
        now = list(self.base.__iter__(self.items))
        return len(now) == len(self.copy) and all(
            a is b for a, b in zip(now, self.copy, strict=True)
        )

    def restore(self) -> None:
        """Refills the container if an item was added, removed, moved or replaced."""
        if self._unchanged():
            return
        self.base.clear(self.items)
        (self.base.update if self.base is set else self.base.extend)(self.items, self.copy)


class SavedNumbers:
    """The numbers of an ``array.array``."""

    def __init__(self, numbers: array.array[Any]) -> None:
        self.numbers = numbers
        self.copy = self._now()

    def _now(self) -> array.array[Any]:
        every: array.array[Any] = array.array.__getitem__(self.numbers, slice(None))
        return every

    def changed(self) -> Iterator[Change]:
        """Whether any bit or the number of numbers differs."""
        if self._now().tobytes() != self.copy.tobytes():
            yield Change()

    def restore(self) -> None:
        """Copies the numbers back if any differs."""
        if self._now().tobytes() != self.copy.tobytes():
            array.array.__setitem__(self.numbers, slice(None), self.copy)


class SavedInstance:
    """An instance's class, the identity of its ``__dict__``, and its slots."""

    def __init__(self, obj: object) -> None:
        self.obj = obj
        self.cls = type(obj)
        self.attributes = self._attributes()
        self.slots = [(slot, slot_value(obj, slot)) for slot in slots_of(self.cls)]

    def _attributes(self) -> object:
        try:
            return object.__getattribute__(self.obj, "__dict__")
        except AttributeError:
            return None

    def changed(self) -> Iterator[Change]:
        """Whether its class or dict changed, and the slots with other values."""
        if type(self.obj) is not self.cls or (
            self.attributes is not None and self._attributes() is not self.attributes
        ):
            yield Change()
        for slot, value in self.slots:
            now = slot_value(self.obj, slot)
            if now is not value:
                yield Change(f".{slot.__name__}", now)

    def restore(self) -> None:
        """Restores the class (a lazy module changes it), the dict object and the slots."""
        if type(self.obj) is not self.cls:
            object.__setattr__(self.obj, "__class__", self.cls)
        if self.attributes is not None and self._attributes() is not self.attributes:
            object.__setattr__(self.obj, "__dict__", self.attributes)
        for slot, value in self.slots:
            if slot_value(self.obj, slot) is value:
                continue
            if value is UNSET:
                slot.__delete__(self.obj)
            else:
                slot.__set__(self.obj, value)


class SavedClass:
    """The attributes of one of the user's classes."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.attributes = dict(self._now())

    def _now(self) -> dict[str, object]:
        namespace = type.__getattribute__(self.cls, "__dict__")
        return {key: value for key, value in namespace.items() if not key.startswith("__")}

    def changed(self) -> Iterator[Change]:
        """The attributes that were set or deleted."""
        now = self._now()
        for key in now.keys() | self.attributes.keys():
            if now.get(key, UNSET) is not self.attributes.get(key, UNSET):
                yield Change(f".{key}", now.get(key, UNSET))

    def restore(self) -> None:
        """Restores attributes that were set or deleted; removes new ones."""
        now = self._now()
        for key in now.keys() - self.attributes.keys():
            type.__delattr__(self.cls, key)
        for key, value in self.attributes.items():
            if now.get(key, UNSET) is not value:
                type.__setattr__(self.cls, key, value)


class SavedGenerator:
    """A ``torch.Generator``'s state."""

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator
        self.state = generator.get_state()

    def changed(self) -> Iterator[Change]:
        """Whether numbers were drawn."""
        if not torch.equal(self.generator.get_state(), self.state):
            yield Change()

    def restore(self) -> None:
        """Sets the state."""
        self.generator.set_state(self.state)


class SavedRandom:
    """A ``random.Random``'s state."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        self.state = generator.getstate()

    def changed(self) -> Iterator[Change]:
        """Whether numbers were drawn."""
        if self.generator.getstate() != self.state:
            yield Change()

    def restore(self) -> None:
        """Sets the state."""
        self.generator.setstate(self.state)


class SavedArray:
    """A NumPy array's data."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.copy = array.copy()

    def changed(self) -> Iterator[Change]:
        """Whether its shape or its bytes differ; for objects, whether their identities do."""
        if self.array.shape != self.copy.shape or self.array.tobytes() != self.copy.tobytes():
            yield Change()

    def restore(self) -> None:
        """Copies the data back, bit for bit for an array of numbers."""
        if self.array.shape != self.copy.shape:
            self.array.resize(self.copy.shape, refcheck=False)
        self.array[...] = self.copy


class SavedNumpyGenerator:
    """The state of a ``numpy.random.Generator`` or ``RandomState``."""

    def __init__(self, generator: Any) -> None:
        bits = getattr(generator, "bit_generator", None) or generator._bit_generator
        self.bits = bits
        self.state = bits.state

    def changed(self) -> Iterator[Change]:
        """Whether numbers were drawn."""
        if not _same_state(self.bits.state, self.state):
            yield Change()

    def restore(self) -> None:
        """Sets the state."""
        self.bits.state = self.state


def _same_state(now: Any, before: Any) -> bool:
    """Whether two states of a NumPy generator, dicts of numbers and arrays, are equal."""
    if isinstance(now, dict):
        return all(_same_state(now[key], before[key]) for key in now)
    return bool(sys.modules["numpy"].array_equal(now, before))


def _numpy(obj: Any) -> list[Saved]:
    numpy = sys.modules["numpy"]
    if isinstance(obj, numpy.ndarray):
        # A call cannot change a read-only array, and it could not be restored.
        return [SavedArray(obj)] if obj.flags.writeable else []
    random_module = sys.modules.get("numpy.random")
    if random_module is not None and isinstance(
        obj, (random_module.Generator, random_module.RandomState)
    ):
        return [SavedNumpyGenerator(obj)]
    return []
