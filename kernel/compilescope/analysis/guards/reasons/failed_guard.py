"""Parses torch's message about a failing guard: the guard, the expected and the actual value."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from ....report import Guard, Struct
from ..global_state import CHANGED
from ..guard_tree import type_name
from ..origin import Files, split

_TENSOR = re.compile(r"tensor '(.*?)' (?=[a-zA-Z_ ]*mismatch)(.*)$", re.S)
_MISMATCH = re.compile(
    r"(?:Tensor )?([a-zA-Z_ ]+?) mismatch(?: at index (\d+))?\. "
    r"[Ee]xpected (?:device index to be )?(.*?)(?:, actual (.*?))?(?:\. Guard failed on .*)?$",
    re.S,
)
_NO_TENSOR = re.compile(
    r"expected type of '(.*?)' to be (?:a tensor type|<class 'torch\.Tensor'>), '? ?"
    r"but found (.*)$",
    re.S,
)
_NO_ACCESS = re.compile(r"(?:getattr failed on source|\w*Error on) (.*)$", re.S)
_LENGTH = re.compile(r"len\((.*)\) != (\d+)$", re.S)
_TYPE = re.compile(r"TYPE_MISMATCH\((.*)\)$", re.S)
_GLOBAL = re.compile(rf"{CHANGED}(.*)$", re.S)
_CHECK_TYPE = re.compile(r"___check_type_id\((.*), \d+\)(?:, type=<class '(.*)'>)?$", re.S)
# torch 2.11 writes the object itself after "type=", later versions its class.
_CHECK_OBJECT = re.compile(
    r"___check_obj_id\((.*), \d+\)(?:, type=(?:<class ')?(.*?)(?:'>)?)?$", re.S
)
_CONTAINS = re.compile(r"(not )?___dict_contains\((.*?), ([LG]\[.*)\)$", re.S)
_SIZES = re.compile(r"[LG]\[[^\]]*\][\w.\[\]'\"]*?\.(?:size|stride|storage_offset)\(\)(?:\[\d+\])?")
_DUPLICATE = "Duplicate tensor found"

_KEYS = re.compile(r"\w+")
DTYPES = {
    "Float": "float32",
    "Double": "float64",
    "Half": "float16",
    "BFloat16": "bfloat16",
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Bool": "bool",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}
"""torch's C++ names of types."""

Look = Callable[[str], str]
"""Evaluates an expression of a guard for the current values, as a few words; empty if unknown."""


class GuardFailure(Struct):
    """The first guard that fails."""

    source: str = ""
    kind: str = ""
    """size, stride, rank, dtype, device, requires_grad, dispatch key set, type, identity, value,
    length, missing, alias, global, relation."""
    expected: str = ""
    actual: str = ""
    expression: str = ""
    """The guard's source, if torch named it."""


def parse_failure(message: str, look: Look = lambda _: "") -> GuardFailure:
    """Read ``check_verbose``'s message about the guard that failed first.

    Parameters
    ----------
    message
        One of its ``verbose_code_parts``: torch's sentence, or the guard's own expression.
    look
        Called for values that the message lacks.
    """
    expression, _, _ = split(message, Files(()))
    for pattern, read in _READERS:
        match = pattern.match(expression)
        if match is not None:
            return read(match, look)
    if _DUPLICATE in expression:
        return GuardFailure(
            kind="alias", expected="different tensors", actual="the same tensor twice"
        )
    return _expression(expression, look)


def find_guard(failure: GuardFailure, guards: Sequence[Guard]) -> int | None:
    """The index of the failed guard; None if torch prints no guard for that check.

    A value that could not be fetched is the failure of the first guard that needs it.
    """
    for place, guard in enumerate(guards):
        if failure.expression and guard.expression == failure.expression:
            return place
    types = _TYPES_OF.get(failure.kind)
    for place, guard in enumerate(guards):
        if types and guard.type in types and guard.source == failure.source:
            return place
        if failure.kind == "missing" and _needs(guard.source, failure.source):
            return place
        if failure.kind in ("alias", "global") and types and guard.type in types:
            return place
    return None


def _needs(source: str, other: str) -> bool:
    """Whether one value is fetched through another."""
    return source == other or source.startswith((f"{other}.", f"{other}["))


_TENSOR_KINDS = ("size", "stride", "rank", "dtype", "device", "requires_grad", "dispatch key set")
_TYPES_OF: dict[str, set[str]] = {
    **{kind: {"TENSOR_MATCH"} for kind in _TENSOR_KINDS},
    "type": {"TENSOR_MATCH", "TYPE_MATCH"},
    "length": {"DICT_LENGTH", "LENGTH_CHECK"},
    "alias": {"NO_TENSOR_ALIASING"},
    "global": {"GLOBAL_STATE"},
}


def _tensor(match: re.Match[str], look: Look) -> GuardFailure:
    source, rest = match.groups()
    parts = _MISMATCH.match(rest)
    if parts is None:
        return GuardFailure(source=source, kind="tensor", actual=rest.strip())
    kind, index, expected, actual = parts.groups()
    kind = {"device index": "device", "Tensor device index": "device"}.get(kind, kind)
    place = "" if index is None else f"{kind}({index}) = "
    actual = actual or ""
    if kind == "dtype":
        expected, actual = DTYPES.get(expected, expected), DTYPES.get(actual, actual)
    if kind == "dispatch key set":
        expected, actual = keys_only_in(expected, actual), keys_only_in(actual, expected)
    if kind == "requires_grad":
        expected = "requires_grad" if expected.endswith("1") else "no requires_grad"
        actual = "no requires_grad" if expected == "requires_grad" else "requires_grad"
    return GuardFailure(
        source=source,
        kind=kind,
        expected=f"{place}{expected}",
        actual=f"{place}{actual}" if actual else look(source),
    )


def keys_only_in(keys: str, others: str) -> str:
    """The dispatch keys of one set that another does not have."""
    names, besides = (_KEYS.findall(text.partition("(")[2]) for text in (keys, others))
    return ", ".join(name for name in names if name not in besides) or "no others"


def _no_tensor(match: re.Match[str], look: Look) -> GuardFailure:
    source, other = match.groups()
    return GuardFailure(
        source=source, kind="type", expected="a tensor", actual=look(source) or type_name(other)
    )


def _no_access(match: re.Match[str], look: Look) -> GuardFailure:
    source = match.group(1)
    return GuardFailure(source=source, kind="missing", expected=source, actual="is not there")


def _length(match: re.Match[str], look: Look) -> GuardFailure:
    source, length = match.groups()
    return GuardFailure(
        source=source, kind="length", expected=f"{length} items", actual=look(f"len({source})")
    )


def _type(match: re.Match[str], look: Look) -> GuardFailure:
    source = match.group(1)
    return GuardFailure(
        source=source, kind="type", expected="the type it had", actual=look(f"type({source})")
    )


def _global(match: re.Match[str], look: Look) -> GuardFailure:
    return GuardFailure(kind="global", expected="", actual=match.group(1).strip())


def _check_type(match: re.Match[str], look: Look) -> GuardFailure:
    source, name = match.groups()
    return GuardFailure(
        source=source,
        kind="type",
        expected=name or "the type it had",
        actual=look(f"type({source})"),
        expression=match.group(),
    )


def _check_object(match: re.Match[str], look: Look) -> GuardFailure:
    source, name = match.groups()
    value = look(source)
    return GuardFailure(
        source=source,
        kind="identity",
        expected=f"the {name or 'object'} that was there",
        actual=f"another: {value}" if value else "another object",
        expression=match.group(),
    )


def _contains(match: re.Match[str], look: Look) -> GuardFailure:
    absent, key, source = match.groups()
    texts = (f"no key {key}", f"the key {key}") if absent else (f"the key {key}", f"no key {key}")
    return GuardFailure(
        source=source, kind="key", expected=texts[0], actual=texts[1], expression=match.group()
    )


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], Look], GuardFailure]], ...] = (
    (_TENSOR, _tensor),
    (_NO_TENSOR, _no_tensor),
    (_NO_ACCESS, _no_access),
    (_LENGTH, _length),
    (_TYPE, _type),
    (_GLOBAL, _global),
    (_CHECK_TYPE, _check_type),
    (_CHECK_OBJECT, _check_object),
    (_CONTAINS, _contains),
)


def _expression(expression: str, look: Look) -> GuardFailure:
    """A guard's own expression: ``L['k'] == 2``, ``2 <= L['x'].size()[0]``, ``L['k'] is None``."""
    failure = GuardFailure(kind="value", expected=expression, expression=expression)
    sizes = list(dict.fromkeys(_SIZES.findall(expression)))
    if sizes:
        failure.kind, failure.source = "relation", sizes[0]
        failure.actual = ", ".join(f"{size} = {look(size)}" for size in sizes)
        return failure
    for word in (" == ", " is not ", " is "):
        left, name, right = expression.partition(word)
        if name:
            failure.source = left
            failure.expected = f"not {right}" if word == " is not " else right
            failure.actual = look(left)
            if word == " is " and right != "None":
                failure.kind = "alias"
                failure.expected, failure.actual = f"the same as {right}", "another object"
            return failure
    bare = expression.removeprefix("not ")
    if bare != expression:
        failure.source, failure.expected = bare, "empty or false"
    failure.actual = look(bare)
    return failure


def changed_modes(expression: str, now: str) -> tuple[str, str]:
    """The global modes that differ between the guard and the current state.

    Parameters
    ----------
    expression
        Of the ``GLOBAL_STATE`` guard: ``___check_global_state() against {…}``.
    now
        The modes in force, as torch dumps them: a JSON object.
    """
    try:
        then_modes = json.loads(expression.partition(" against ")[2])
        now_modes = json.loads(now)
    except ValueError:
        return "", ""
    if not isinstance(then_modes, dict) or not isinstance(now_modes, dict):
        return "", ""
    names = [name for name in then_modes if then_modes[name] != now_modes.get(name)]
    return _modes(then_modes, names), _modes(now_modes, names)


def _modes(modes: dict[str, object], names: Sequence[str]) -> str:
    return ", ".join(f"{name} = {json.dumps(modes.get(name))}" for name in names)


def recorded_gradients(guards: Sequence[Guard], otherwise: bool) -> bool:
    """Whether gradients were recorded when guards were created; ``otherwise`` if unknown."""
    for guard in guards:
        if guard.type == "GLOBAL_STATE":
            try:
                mode = json.loads(guard.expression.partition(" against ")[2])["grad_mode"]
            except (ValueError, KeyError, TypeError):
                return otherwise
            return bool(mode)
    return otherwise
