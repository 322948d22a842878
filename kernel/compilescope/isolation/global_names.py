"""Finds the globals that a function's code reads and writes, without running it."""

from __future__ import annotations

import dis
import sys
import types
import weakref
from collections.abc import Iterator
from typing import NamedTuple

from .user_code import is_made_by_code, is_user_module

_READS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_WRITES = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_NAME", "DELETE_NAME"}
_ATTRIBUTE_WRITES = {"STORE_ATTR", "DELETE_ATTR"}


class Names(NamedTuple):
    """Names in a code object and in the functions defined inside it."""

    globals: frozenset[str]
    rebound: frozenset[str]
    """Globals that a ``global`` statement lets the code rebind or delete."""
    attributes: frozenset[str]
    set_attributes: frozenset[str]
    imports: frozenset[tuple[str, int]] = frozenset()
    """Modules that the code imports when it runs, and how many packages up their names start."""


class Binding(NamedTuple):
    """A name in a namespace: a module's global, rebindable by the code."""

    namespace: dict[str, object]
    name: str


_names: weakref.WeakKeyDictionary[types.CodeType, Names] = weakref.WeakKeyDictionary()


def names_in(code: types.CodeType) -> Names:
    """Finds the names in the bytecode; changes by ``exec`` or ``globals()`` are not detected."""
    names = _names.get(code)
    if names is None:
        names = _names[code] = _read_names(code)
    return names


def _read_names(code: types.CodeType) -> Names:
    reads: set[str] = set()
    writes: set[str] = set()
    set_attributes: set[str] = set()
    attributes = set(code.co_names)
    imports: set[tuple[str, int]] = set()
    constants: list[object] = []
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":
            # The level and the names that are imported are the two constants before it.
            level = constants[-2] if len(constants) > 1 else 0
            imports.add((instruction.argval, level if isinstance(level, int) else 0))
        elif instruction.opname.startswith("LOAD_"):
            constants.append(instruction.argval)
        if instruction.opname in _READS:
            reads.add(instruction.argval)
        elif instruction.opname in _WRITES:
            writes.add(instruction.argval)
        elif instruction.opname in _ATTRIBUTE_WRITES:
            set_attributes.add(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = names_in(constant)
            reads |= inner.globals
            writes |= inner.rebound
            attributes |= inner.attributes
            set_attributes |= inner.set_attributes
            imports |= inner.imports
    return Names(
        frozenset(reads | writes),
        frozenset(writes),
        frozenset(attributes),
        frozenset(set_attributes),
        frozenset(imports),
    )


def named_by(function: types.FunctionType) -> Iterator[tuple[str, object | Binding]]:
    """Yields the values that the function's code names, and the bindings that it may change.

    Of the user's modules only the attributes that the code names are searched.
    """
    names = names_in(function.__code__)
    namespace = function.__globals__
    for name in sorted(names.rebound):
        yield name, Binding(namespace, name)
    modules: list[tuple[str, types.ModuleType]] = []
    for name in sorted(names.globals):
        if name in namespace:
            value = namespace[name]
            if type(value) is types.ModuleType:
                modules.append((name, value))
            else:
                yield name, value
    modules += _imported(names, namespace)
    seen: set[int] = set()
    while modules:
        path, module = modules.pop()
        if id(module) in seen or not (is_user_module(module) or is_made_by_code(module)):
            continue
        seen.add(id(module))
        attributes: dict[str, object] = object.__getattribute__(module, "__dict__")
        for name in sorted(names.attributes & attributes.keys()):
            value = attributes[name]
            if name in names.set_attributes:
                yield f"{path}.{name}", Binding(attributes, name)
            if type(value) is types.ModuleType:
                modules.append((f"{path}.{name}", value))
            else:
                yield f"{path}.{name}", value


def _imported(names: Names, namespace: dict[str, object]) -> Iterator[tuple[str, types.ModuleType]]:
    """Yields the modules that code imports when it runs, if they are loaded, by name."""
    package = namespace.get("__package__") or ""
    for name, level in sorted(names.imports):
        full = name
        if level:
            parts = str(package).split(".")
            full = ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
        # `import a.b` binds a, and `from a import b` may give the module a.b.
        for place in {full, full.partition(".")[0]}:
            module = sys.modules.get(place)
            if isinstance(module, types.ModuleType):
                yield place, module
