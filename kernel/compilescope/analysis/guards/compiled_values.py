"""The values that one compilation was compiled for, from its guards and symbols."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...report import Guard
from ..text.brackets import closing, split_list

_LOCAL = re.compile(r"L\['(\w+)'\]")
_TENSOR = re.compile(r"check_tensor\(")
_TYPE = re.compile(r"___check_type_id\(.*, \d+\), type=(.*)$")
_OBJECT = re.compile(r"___check_obj_id\(.*, (\d+)\), type=(.*)$")
_STATE = "___check_global_state() against "
_ITSELF = "___as_tensor("
"""torch 2.11 guards that a float which became a symbol equals itself: this marks the right-hand
side."""


@dataclass(frozen=True)
class Symbol:
    """A dynamic size, stride or number."""

    name: str
    value: str
    """The example's value."""


def as_in_reasons(text: str) -> str:
    """An expression as torch writes it in reasons: ``x.size()`` for ``L['x'].size()``."""
    return _LOCAL.sub(r"\1", text)


class Values:
    """Looks up what a compilation guarded.

    Parameters
    ----------
    guards
        Its guards.
    symbols
        Source → the symbol that stands for it.
    """

    def __init__(self, guards: Sequence[Guard], symbols: Mapping[str, Symbol]) -> None:
        self.symbols = {as_in_reasons(source): symbol for source, symbol in symbols.items()}
        # Computed on demand: only a recompile needs them, and few compilations have one.
        self._all = tuple(guards)
        self._of_symbols = {as_in_reasons(source): source for source in symbols}

    @cached_property
    def _guards(self) -> dict[str, Guard]:
        return {as_in_reasons(guard.expression): guard for guard in self._all}

    @cached_property
    def _sources(self) -> dict[str, str]:
        sources = {as_in_reasons(guard.source): guard.source for guard in self._all if guard.source}
        return sources | self._of_symbols

    @cached_property
    def _by_source(self) -> dict[str, list[Guard]]:
        by_source: dict[str, list[Guard]] = {}
        for guard in self._all:
            by_source.setdefault(as_in_reasons(guard.source), []).append(guard)
        return by_source

    @property
    def guards(self) -> Sequence[Guard]:
        """The compilation's guards."""
        return self._all

    def is_guarded(self, source: str) -> bool:
        """Whether a value was there and used: a guard other than ``is None``, or a symbol."""
        guards = self._by_source.get(as_in_reasons(source), ())
        return as_in_reasons(source) in self._of_symbols or any(
            guard.type != "NONE_MATCH" for guard in guards
        )

    def guard_of(self, reason: str) -> Guard | None:
        """The guard that a reason names: the reason's text begins with its expression."""
        reason = reason.strip()
        prefixes = [text for text in self._guards if text and reason.startswith(text)]
        return self._guards[max(prefixes, key=len)] if prefixes else None

    def tensor_guard(self, source: str) -> Guard | None:
        """The guard on a tensor's type, sizes and strides."""
        for guard in self._by_source.get(source, ()):
            if guard.type == "TENSOR_MATCH":
                return guard
        return None

    def full(self, source: str) -> str:
        """A source with its scope: ``L['x']`` for ``x``; empty if it is not guarded."""
        return self._sources.get(source, "")

    def global_state(self) -> str:
        """The global state that was guarded, as JSON; empty if it is not guarded."""
        for text in self._guards:
            if text.startswith(_STATE):
                return text.removeprefix(_STATE)
        return ""

    def extent(self, source: str, what: str, dimension: int) -> str:
        """A size or stride of a tensor; empty if unknown."""
        symbol = self.symbols.get(f"{source}.{what}()[{dimension}]")
        if symbol:
            return symbol.value
        guard = self.tensor_guard(source)
        listed = listed_in(guard.expression, what) if guard else []
        extent = listed[dimension] if dimension < len(listed) else ""
        return "" if extent == "None" else extent

    def type_of(self, source: str) -> str:
        """The type of a value, if a guard or a symbol shows it."""
        if symbol := self.symbols.get(source):
            return "<class 'float'>" if "." in symbol.value else "<class 'int'>"
        return next(filter(None, map(_described, self._by_source.get(source, ()))), "")

    def value(self, expression: str, source: str) -> str:
        """The new value of a source whose earlier guard failed.

        Parameters
        ----------
        expression
            The earlier guard's: ``len(xs) == 2``. A guard with the same left-hand side has the
            value.
        source
            Its source, for values of which only the type or symbol is known.
        """
        left, equals, _ = expression.partition(" == ")
        for text in self._guards:
            if equals and text.startswith(f"{left} == ") and _ITSELF not in text:
                return text.removeprefix(f"{left} == ")
        if (not equals or left == source) and (symbol := self.symbols.get(source)):
            return symbol.value
        for guard in self._by_source.get(source, ()):
            if description := _described(guard):
                return description
        return ""

    def length(self, source: str) -> str:
        """The number of items that a source has to have; empty if no guard says it."""
        for guard in self._by_source.get(source, ()):
            text = as_in_reasons(guard.expression)
            if text == f"not {source}":
                return "0"
            if text.startswith(f"len({source}) == "):
                return text.rpartition(" ")[2]
        return ""


def _described(guard: Guard) -> str:
    """A value as described by a guard on the whole value."""
    if guard.type == "TENSOR_MATCH":
        parts = _arguments(guard.expression)
        dtype = next((part for part in parts if part.startswith("torch.")), "")
        sizes = ", ".join(listed_in(guard.expression, "size"))
        return f"Tensor {dtype.removeprefix('torch.')}[{sizes}]"
    if match := _OBJECT.match(guard.expression):
        return f"{match.group(2)} at {int(match.group(1)):#x}"
    if match := _TYPE.match(guard.expression):
        return match.group(1)
    if guard.type in ("EQUALS_MATCH", "CONSTANT_MATCH") and guard.expression.startswith(
        f"{guard.source} == "
    ):
        return guard.expression.removeprefix(f"{guard.source} == ")
    if guard.type == "NONE_MATCH" or guard.expression.endswith(" is None"):
        return "None"
    return ""


def listed_in(expression: str, what: str) -> list[str]:
    """The items of ``size=[…]`` or ``stride=[…]`` in a tensor's guard; ``None`` if dynamic."""
    for part in _arguments(expression):
        if part.startswith(f"{what}=["):
            return split_list(part[len(what) + 2 : -1])
    return []


_ATTRIBUTES = ("dispatch_keys", "dtype", "device", "requires_grad")
"""What a tensor's guard states between its class and its sizes, by position."""


def attributes_in(expression: str) -> dict[str, str]:
    """What a tensor's guard states besides sizes and strides, by kind of failure."""
    return dict(zip(_ATTRIBUTES, _arguments(expression)[2:6], strict=False))


def class_in(expression: str) -> str:
    """The class of a tensor's guard, in words: it compares the class itself, not its base."""
    name = next(iter(_arguments(expression)[1:2]), "")
    if not name:
        return "a tensor"
    return "a plain tensor" if name == "Tensor" else f"a tensor of the class {name}"


def _arguments(expression: str) -> list[str]:
    match = _TENSOR.match(expression)
    if match is None:
        return []
    return split_list(expression[match.end() : closing(expression, match.end() - 1) - 1])
