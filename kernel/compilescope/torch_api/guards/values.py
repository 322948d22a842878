"""Looks up the value that a guard manager checks, as its accessor does.

Relies on what the accessors of ``torch._C._dynamo.guards`` print: ``GetAttrGuardAccessor(name)``,
``DictGetItemGuardAccessor('key')`` …; the same from 2.11 to 2.15. An unknown accessor, or one that
fails, gives no value.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Sequence
from typing import Any

from .trees import TreeNode

_ACCESSOR = re.compile(r"(\w+)(?:\((.*)\))?$", re.S)
_KEY = re.compile(r"key=(.*), framelocals_idx=\d+$", re.S)


class NoValue:
    """Marks a value that could not be looked up."""


def values_of(nodes: Sequence[TreeNode], f_locals: dict[str, Any], f_globals: Any) -> list[Any]:
    """The value of each node, or `NoValue`, in the nodes' order.

    Attributes are read as the guards themselves read them at every call.
    """
    values: list[Any] = []
    for node in nodes:
        if node.parent is None:
            values.append(f_locals)
        else:
            values.append(_child_value(values[node.parent], node.accessor, f_globals))
    return values


def _child_value(value: Any, accessor: str, f_globals: Any) -> Any:
    if value is NoValue:
        return NoValue
    match = _ACCESSOR.match(accessor)
    role, _, index = accessor.partition(" ")
    try:
        if role in ("key", "value") and index.isdigit():
            items = dict.keys(value) if role == "key" else dict.values(value)
            return next(itertools.islice(items, int(index), None))
        if match is None:
            return NoValue
        kind, argument = match.group(1), match.group(2) or ""
        if kind == "GlobalsGuardAccessor":
            return f_globals
        access = _ACCESS.get(kind)
        return NoValue if access is None else access(value, argument)
    except Exception:  # noqa: BLE001 - the user's attributes may raise anything
        return NoValue


def _local(value: Any, argument: str) -> Any:
    match = _KEY.match(argument)
    return value[ast.literal_eval(match.group(1))] if match else NoValue


def _item(value: Any, argument: str) -> Any:
    return value[ast.literal_eval(argument)]


def _dictionary_item(value: Any, argument: str) -> Any:
    return dict.__getitem__(value, ast.literal_eval(argument))


_ACCESS: dict[str, Callable[[Any, str], Any]] = {
    "FrameLocalsGuardAccessor": _local,
    "DictGetItemGuardAccessor": _dictionary_item,
    "GetItemGuardAccessor": _item,
    "ListGetItemGuardAccessor": _item,
    "TupleGetItemGuardAccessor": _item,
    "GetAttrGuardAccessor": getattr,
    "GenericGetAttrGuardAccessor": lambda value, name: object.__getattribute__(value, name),
    "GetGenericDictGuardAccessor": lambda value, _: object.__getattribute__(value, "__dict__"),
    "TypeGuardAccessor": lambda value, _: type(value),
    "TypeDictGuardAccessor": lambda value, _: vars(value),
    "TypeMROGuardAccessor": lambda value, _: value.__mro__,
    "CodeGuardAccessor": lambda value, _: value.__code__,
    "ClosureGuardAccessor": lambda value, _: value.__closure__,
    "FuncDefaultsGuardAccessor": lambda value, _: value.__defaults__,
    "FuncKwDefaultsGuardAccessor": lambda value, _: value.__kwdefaults__,
    "WeakRefCallGuardAccessor": lambda value, _: value(),
}
