"""Functions and other objects in a variant's settings, by name.

A variant is plain data: it is compared, sent to the panel and stored in reports. An object in its
settings is therefore written as a reference, ``<function __main__.keep>``, and looked up here
before torch is called. A report that is loaded elsewhere has only the name.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Mapping
from typing import Any

from .errors import CompilescopeError

_PATTERN = re.compile(r"<(?:function|object) (.+)>", re.DOTALL)
_PLAIN = (type(None), bool, int, float, str, bytes, set, frozenset)
_known: dict[str, Any] = {}
_missing: dict[str, CompilescopeError] = {}
"""References of another process whose objects could not be recreated here → why."""


def refer(value: Any) -> Any:
    """Converts a setting to plain data, with functions and other objects as references."""
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(refer(item) for item in value)
    if type(value) is dict:
        return {key: refer(item) for key, item in value.items()}
    kind = "function" if inspect.isroutine(value) or inspect.isclass(value) else "object"
    named = value if kind == "function" else type(value)
    owner = getattr(named, "__module__", None)
    name = getattr(named, "__qualname__", type(named).__qualname__)
    name = f"{owner}.{name}" if owner else name
    text, number = f"<{kind} {name}>", 1
    # Another function may have the same name: a lambda, or one that a cell redefined.
    while not _is_same(_known.get(text, value), value):
        number += 1
        text = f"<{kind} {name} #{number}>"
    _known[text] = value
    return text


def resolve(value: Any) -> Any:
    """Replaces references in a setting by their objects; the reverse of `refer`.

    Raises
    ------
    CompilescopeError
        The setting refers to an object that this process does not have.
    """
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(resolve(item) for item in value)
    if type(value) is dict:
        return {key: resolve(item) for key, item in value.items()}
    if not is_reference(value):
        return value
    if value in _known:
        return _known[value]
    if value in _missing:
        raise _missing[value]
    name = name_of(value)
    result = _find(name) if value.startswith("<function ") else None
    if result is None:
        raise CompilescopeError(
            f"{name} is not in this process.",
            "A variant that was stored or sent has the names of functions and objects alone.",
            "Give the function or object itself: Variant(options={...}).",
        )
    return result


def is_reference(value: object) -> bool:
    """Whether a setting is a reference to a function or another object."""
    return isinstance(value, str) and _PATTERN.fullmatch(value) is not None


def name_of(reference: str) -> str:
    """The qualified name in a reference: ``__main__.keep``."""
    match = _PATTERN.fullmatch(reference)
    return match[1] if match is not None else reference


def display(value: object) -> str:
    """A setting as shown in a name: a reference is shown as its qualified name."""
    return name_of(value) if isinstance(value, str) else str(value)


def referenced() -> Mapping[str, Any]:
    """The objects that references of this process stand for, by reference."""
    return dict(_known)


def names_in_code() -> dict[str, Any]:
    """The names of the objects as a variant's code writes them: ``keep`` for ``__main__.keep``.

    Of an object in another module, that is the name of its outermost package.
    """
    names: dict[str, Any] = {}
    for reference, value in _known.items():
        first, _, rest = name_of(reference).partition(".")
        if first != "__main__":
            names |= {first: sys.modules[first]} if first in sys.modules else {}
        elif rest.isidentifier():
            names[rest] = value
    return names


def add_known(others: Mapping[str, Any]) -> None:
    """Adds the objects that another process referred to."""
    _known.update(others)


def add_missing(reference: str, error: CompilescopeError) -> None:
    """Records why an object that another process referred to is not here."""
    _missing[reference] = error


def forget() -> None:
    """Drops all referenced objects; later calls of `refer` add them again."""
    _known.clear()
    _missing.clear()


def _find(name: str) -> Any:
    """The object with a qualified name, in modules that are already imported."""
    parts = name.split(".")
    for end in range(len(parts) - 1, 0, -1):
        result: Any = sys.modules.get(".".join(parts[:end]))
        for part in parts[end:]:
            result = getattr(result, part, None)
        if result is not None:
            return result
    return None


def _is_same(left: Any, right: Any) -> bool:
    """Whether two are the same object, or a function whose definition ran again unchanged."""
    if left is right:
        return True
    if isinstance(left, types.MethodType) and isinstance(right, types.MethodType):
        return left.__self__ is right.__self__ and left.__func__ is right.__func__
    if not (isinstance(left, types.FunctionType) and isinstance(right, types.FunctionType)):
        return False
    inside = [
        [id(_content(cell)) for cell in function.__closure__ or ()] for function in (left, right)
    ]
    return (
        left.__code__ == right.__code__
        and left.__globals__ is right.__globals__
        and (left.__defaults__, left.__kwdefaults__) == (None, None)
        and (right.__defaults__, right.__kwdefaults__) == (None, None)
        and inside[0] == inside[1]
    )


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None
