"""Differences between the guards of two compilations, besides the guard that torch reports.

torch names only the first guard that fails: an empty cache that is filled at the next call, say,
may come after a size.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ....report import Failure, Guard
from ..compiled_values import Values, as_in_reasons, attributes_in, listed_in
from ..global_state import CHANGED
from .recompile_words import describe

_LENGTH = re.compile(r"len\((?P<source>.*)\) == (?P<value>\d+)$", re.S)
_TYPE = re.compile(r"___check_type_id\(.*, \d+\), type=(?P<value>.*)$", re.S)
_LENGTHS = ("LENGTH_CHECK", "SEQUENCE_LENGTH", "DICT_LENGTH")
_RELATIONS = ("LAMBDA_GUARD", "SYMBOLIC_SHAPE_GUARD", "SHAPE_ENV")
_VALUES = ("EQUALS_MATCH", "CONSTANT_MATCH", "TRUE_MATCH", "FALSE_MATCH")
_NUMBER = re.compile(r"-?\d")
_CONSTANT = re.compile(r"(?P<source>[LG]\['[^\s=()]+) == (?P<value>-?\d[\d.e+-]*)$")
"""The guard on a number that torch made a constant after it was a symbol."""
_SAME = re.compile(r"([LG]\['[^\s()]+) is ([LG]\['[^\s()]+)$")
"""The guard on two sources of one tensor."""
_LISTED = 3
"""How many values a sentence lists."""
_SPECIALIZED = ("0", "1")
"""Sizes that torch makes no symbol of."""
_AT_LEAST_TWO = "at least 2"
_OF_TENSORS = ("stride", "rank", "dispatch_keys", "dtype", "device", "requires_grad")
_NONE, _OBJECT = "None", "an object"


def is_number(change: Failure) -> bool:
    """Whether a number changed, which ``dynamic=True`` may make a symbol."""
    return change.kind == "value" and all(map(_NUMBER.match, (change.old, change.new)))


def other_changes(failure: Failure, earlier: Values | None, now: Values) -> list[Failure]:
    """The guards of the earlier compilation that contradict those of the new one, as failures.

    Only guards that state a value are compared: lengths, constants, types, static sizes and
    strides. A size of 0 or 1 is static whatever is marked: it is compared with a symbol, too.

    Parameters
    ----------
    failure
        The failed guard that torch reports, which is left out.
    earlier, now
        What the compilation of that guard, and the new one, guard.
    """
    if earlier is None:
        return []
    differing = _differing(earlier, now)
    resized = _resized(differing)
    return [
        Failure(
            guard=guard.expression,
            source=fact.source,
            compilation=failure.compilation,
            kind=fact.kind,
            dimension=fact.dimension,
            old=old,
            new=new,
            where=guard.origin,
        )
        for fact, (old, new, guard) in differing.items()
        if not _is_reported(fact, failure)
        # Another size has other strides; next to a dynamic size, a static stride is unaffected.
        and not (fact.kind == "stride" and fact.source in resized)
    ]


def distance(failure: Failure, earlier: Values | None, now: Values) -> float:
    """How many values an earlier compilation guards differently from the new one.

    Parameters
    ----------
    failure
        The failed guard that torch reports, which counts in any case.
    earlier, now
        What the compilation of that guard, and the new one, guard. What is unknown is far.
    """
    if earlier is None:
        return math.inf
    differing = [*_differing(earlier, now), *_now_symbols(earlier, now)]
    resized = _resized(differing)
    changed = {
        _aspect(fact.kind, fact.source, fact.dimension)
        for fact in differing
        if not (fact.kind == "stride" and fact.source in resized)
    }
    attributes = _attributes(now)
    for place, attribute in _attributes(earlier).items():
        if attributes.get(place, attribute) != attribute:
            changed.add(place)
    changed.add(
        ("state", failure.guard.removeprefix(CHANGED))
        if failure.kind in ("grad_mode", "global_state")
        else _aspect(failure.kind, failure.source, failure.dimension)
    )
    replaced = tuple(
        f"{aspect[1]}{access}"
        for aspect in changed
        if aspect[0] in ("value", "length")
        for access in ".["
    )
    # The parts of an object of another type or length that only one of them guards differ, too.
    parts = {fact.source for fact in _facts(earlier).keys() ^ _facts(now).keys()}
    return len(changed) + sum(part.startswith(replaced) for part in parts)


def _aspect(kind: str, source: str, dimension: int | None) -> tuple[object, ...]:
    """What changed of a value: guards on its type, on it and on None say the same."""
    if kind == "size":
        return kind, source, dimension
    return (kind if kind in _OF_TENSORS or kind == "length" else "value"), source


def _attributes(values: Values) -> dict[tuple[object, ...], object]:
    """What guards state of tensors besides sizes and strides, and of the global state."""
    attributes: dict[tuple[object, ...], object] = {
        (kind, guard.source): attribute
        for guard in values.guards
        if guard.type == "TENSOR_MATCH"
        for kind, attribute in attributes_in(guard.expression).items()
    }
    try:
        state = json.loads(values.global_state())
    except ValueError:
        return attributes
    modes = state.items() if isinstance(state, dict) else ()
    return attributes | {("state", name): mode for name, mode in modes}


def other_guards(failure: Failure, changes: Sequence[Failure]) -> str:
    """Returns a sentence: a change for the reported guard alone does not avoid the recompile."""
    texts = list(dict.fromkeys(describe(change).text for change in changes))
    return (
        f"Other guards of {failure.compilation} fail too: {first_few(texts)}. torch reports only "
        "the first; fixing only that one does not avoid the recompile."
    )


def first_few(texts: Sequence[str]) -> str:
    """The first of a list, and how many more there are."""
    more = len(texts) - _LISTED
    listed = ", ".join(texts[:_LISTED] if more > 1 else texts)
    return f"{listed} and {more} more" if more > 1 else listed


def _differing(earlier: Values, now: Values) -> dict[_Fact, tuple[str, str, Guard]]:
    """What two compilations state differently: the values of both, and the earlier guard."""
    values = _facts(now)
    facts = _facts_with_guards(earlier)
    for fact, (old, _) in facts.items():
        if fact.kind == "size" and old in _SPECIALIZED and (size := _symbolic(fact, now)):
            values.setdefault(fact, size)
    for fact, new in values.items():
        guard = earlier.tensor_guard(as_in_reasons(fact.source))
        if fact.kind == "size" and new in _SPECIALIZED and guard and _symbolic(fact, earlier):
            facts.setdefault(fact, (_AT_LEAST_TWO, guard))
    return {
        fact: (old, values[fact], guard)
        for fact, (old, guard) in facts.items()
        if fact in values and values[fact] != old
    }


def _now_symbols(earlier: Values, now: Values) -> Iterator[_Fact]:
    """Numbers and sizes that were constants, and are symbols of another value now.

    They changed, too, whether or not torch reports them for the earlier compilation.
    """
    for fact, old in _facts(earlier).items():
        source = as_in_reasons(fact.source)
        if fact.kind == "size":
            symbol = now.symbols.get(f"{source}.size()[{fact.dimension}]")
        else:
            symbol = now.symbols.get(source) if fact.kind == "value" else None
        if symbol is not None and symbol.value != old:
            yield fact


def _resized(differing: Iterable[_Fact]) -> set[str]:
    return {fact.source for fact in differing if fact.kind == "size"}


def _symbolic(fact: _Fact, values: Values) -> str:
    """The example's value of a size that is dynamic, if known; empty if it is static."""
    source, at = as_in_reasons(fact.source), fact.dimension
    guard = values.tensor_guard(source)
    sizes = listed_in(guard.expression, "size") if guard is not None else []
    if at is None or at >= len(sizes) or sizes[at].isdecimal():
        return ""
    # Equal sizes may share a symbol, which is then known for the first of them.
    return values.extent(source, "size", at) or "?"


class _Fact(NamedTuple):
    """What a guard compares: one length, type, constant or size."""

    kind: str
    source: str
    dimension: int | None = None


def _is_reported(fact: _Fact, failure: Failure) -> bool:
    """Whether it is the failure itself; another size, or the layout, of the tensor is not."""
    if failure.kind == "size" and fact.kind in ("size", "stride"):
        return fact == (failure.kind, failure.source, failure.dimension)
    if failure.kind in ("dtype", "requires_grad") and fact.kind == "stride":
        return False
    source = failure.source
    return fact.source == source or (
        bool(source) and fact.source.startswith((f"{source}.", f"{source}["))
    )


def _facts(values: Values) -> dict[_Fact, str]:
    return {fact: value for fact, (value, _) in _facts_with_guards(values).items()}


def _facts_with_guards(values: Values) -> dict[_Fact, tuple[str, Guard]]:
    facts: dict[_Fact, tuple[str, Guard]] = {}
    for guard in values.guards:
        for fact, value in _facts_of(guard):
            facts.setdefault(fact, (value, guard))
    for guard in values.guards:
        # A tensor that is passed twice has guards under one of its names.
        if guard.type in _RELATIONS and (same := _SAME.match(guard.expression)):
            for fact in [fact for fact in facts if fact.source in same.groups()]:
                for source in same.groups():
                    facts.setdefault(fact._replace(source=source), facts[fact])
    return facts


def _facts_of(guard: Guard) -> Iterator[tuple[_Fact, str]]:
    source, text = guard.source, guard.expression
    if guard.type in _LENGTHS:
        if text == f"not {source}":
            yield _Fact("length", source), "0"
        elif (match := _LENGTH.match(text)) and match["source"] == source:
            yield _Fact("length", source), match["value"]
    elif guard.type in _VALUES and text.startswith(f"{source} == "):
        yield _Fact("value", source), text.removeprefix(f"{source} == ")
    elif guard.type in _RELATIONS and (match := _CONSTANT.match(text)):
        yield _Fact("value", match["source"]), match["value"]
    elif guard.type == "NONE_MATCH":
        yield _Fact("none", source), _NONE
    elif guard.type == "TYPE_MATCH" and (match := _TYPE.match(text)):
        yield _Fact("type", source), match["value"]
        yield _Fact("none", source), _OBJECT
    elif guard.type == "TENSOR_MATCH":
        yield _Fact("none", source), _OBJECT
        sizes = listed_in(text, "size")
        yield _Fact("rank", source), str(len(sizes))
        for kind, extents in (("size", sizes), ("stride", listed_in(text, "stride"))):
            for dimension, extent in enumerate(extents):
                if extent.isdecimal():  # a dynamic size has a guard of its own
                    yield _Fact(kind, source, dimension), extent
