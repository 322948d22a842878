"""Parses a reason for a recompile: the failed guard, its old and its new value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ....report import Failure
from ..compiled_values import Values, as_in_reasons, class_in
from ..global_state import CHANGED, state_values

_OWNER = re.compile(r"\[?(\d+/\d+)(?:_\d+)?\]?: (.*)$", re.S)
_TENSOR = re.compile(
    r"[Tt]ensor '(?P<source>.*?)' (?P<what>size|stride|rank|dtype|requires_grad|dispatch key set|"
    r"device index|Tensor device index) mismatch(?: at index (?P<index>\d+))?\."
    r" [Ee]xpected (?P<old>.*?)(?:, (?:but got|actual) (?P<new>.*?))?(?:\. Guard failed.*)?$",
    re.S,
)
_NO_TENSOR = re.compile(
    r"expected type of '(?P<source>.*?)' to be (?P<old>.*?),? '? ?but found (?P<new>.*)$", re.S
)
_STATE = re.compile(rf"{CHANGED}(.*)$")
_BACKEND = re.compile(
    r"BACKEND_MATCH failure: .*?Cached backend: (?P<old>.*?)\. New backend: (?P<new>.*?)\. If this"
)
_COMPILER = re.compile(r"compiler='([^']*)'")
_OBJECT_ID = re.compile(r" \(id=0x[0-9a-f]+\)")
_INDUCTORS = "_TorchCompileInductorWrapper"
_NOTE = re.compile(r"\s{2,}# ")
_OBJECT = re.compile(r"___check_(obj|type)_id\((?P<source>.*), (?P<id>\d+)\), type=(?P<type>.*)$")
_LENGTH = re.compile(r"len\((?P<source>.*)\) (?:==|!=) (?P<old>\d+)$")
_EMPTY = re.compile(r"not (?P<source>[^\s()<>=]+)$")
_KEY = re.compile(r"list\(dict\.keys\((?P<source>.*)\)\)\[\d+\] == (?P<old>.*)$", re.S)
_HAS = re.compile(r"(?:not )?hasattr\((?P<source>.*), '.*'\)(?: == (?P<old>True|False))?$")
_SIZE = re.compile(r"(?P<source>[^\s<>=]+)\.(?P<what>size|stride)\(\)\[(?P<index>\d+)\]")
_EQUAL = re.compile(
    rf"{_SIZE.pattern} == (?P<other>[^\s<>=]+\.(?:size|stride))\(\)\[(?P<at>\d+)\]$"
)
_UNEQUAL = re.compile(rf"{_SIZE.pattern} != (?P<number>-?\d+)$")
_RANGE = re.compile(r"(?:(?P<low>-?\d+) <= )?[^\s<>=]+(?: <= (?P<high>-?\d+))?$")
_NUMBER = re.compile(r"(?:-?\d+ <= )?(?P<source>[a-zA-Z_][^\s<>=()]*)(?: <= -?\d+)?$")
"""The range of a number that is a symbol: ``1 <= n <= 49``."""
_VALUE = re.compile(r"(?P<source>[^\s=]+) (?P<test>==|!=|is) (?P<old>.*)$", re.S)
_KINDS = {
    "requires_grad": "requires_grad",
    "rank": "rank",
    "dtype": "dtype",
    "dispatch key set": "dispatch_keys",
    "device index": "device",
    "Tensor device index": "device",
}

_STATES = ("grad_mode", "global_state")
_NO_SOURCE = (*_STATES, "backend")


@dataclass(frozen=True)
class _Read:
    """The contents of a reason alone; its source is as in the text (``x`` for ``L['x']``)."""

    kind: str = "other"
    source: str = ""
    old: str = ""
    new: str = ""
    dimension: int | None = None


def has_new_value(reason: str) -> bool:
    """Whether the guards of the new compilation add nothing to a reason that torch gave."""
    match = _OWNER.match(reason)
    text = match.group(2) if match else reason
    read = _read(text, _NOTE.split(text)[0].strip())
    # The argument of a call in a source has its scope only in the guards: f(L['x']) for f(x).
    return read.kind in _NO_SOURCE or (read.new != "" and "(" not in read.source)


def read_failure(reason: str, earlier: dict[str, Values], now: Values) -> Failure:
    """Read one reason that torch gave for a recompile.

    Parameters
    ----------
    reason
        ``0/0: tensor 'x' size mismatch at index 0. expected 4, actual 5``, ``0/0: n == 2  # …``.
    earlier
        The values that earlier compilations of the frame guarded, by compile id.
    now
        The new compilation, whose guards and symbols give the new value if the reason lacks it.
    """
    match = _OWNER.match(reason)
    compilation, text = (match.group(1), match.group(2)) if match else ("", reason)
    before = earlier.get(compilation)
    guard = before.guard_of(text) if before else None
    expression = as_in_reasons(guard.expression) if guard else _NOTE.split(text)[0].strip()
    read = _read(text, expression)
    if before and not guard and read.kind != "other":
        guard = before.tensor_guard(read.source)
    old = read.old
    if guard and guard.type == "TENSOR_MATCH" and read.kind == "type":
        old = class_in(guard.expression)
    return Failure(
        guard=guard.expression if guard else _NOTE.split(text)[0].strip(),
        source="" if read.kind in _NO_SOURCE else _source(read.source, [before, now]),
        compilation=compilation,
        kind=read.kind,
        dimension=read.dimension,
        old=old or _state(read, before),
        new=read.new or _new(read, expression, now),
        where=guard.origin if guard else None,
    )


def _read(text: str, expression: str) -> _Read:
    text = text.strip()
    if match := _TENSOR.match(text):
        what, source = match["what"], match["source"]
        if what in ("size", "stride"):
            index = int(match["index"])
            return _Read(what, source, match["old"], match["new"] or "", index)
        old, new = match["old"], match["new"] or ""
        if what == "requires_grad":
            old = "False" if old.endswith("0") else "True"
            new = "True" if old == "False" else "False"
        return _Read(_KINDS[what], source, old, new)
    if match := _NO_TENSOR.match(text):
        return _Read("type", match["source"], "a tensor", match["new"])
    if match := _STATE.match(text):
        what = match.group(1).strip()
        kind = what if what == "grad_mode" else "global_state"
        return _Read(kind, what)
    if match := _BACKEND.match(text):
        old, new = _backend(match["old"]), _backend(match["new"])
        return _Read("backend", "", old, new if new != old else f"another {new}")
    return _read_expression(expression)


def _backend(described: str) -> str:
    """The name of a backend that torch describes."""
    if compiler := _COMPILER.search(described):
        return compiler[1]
    return "inductor" if _INDUCTORS in described else _OBJECT_ID.sub("", described)


def _read_expression(text: str) -> _Read:
    if match := _OBJECT.match(text):
        kind = "identity" if match[1] == "obj" else "type"
        old = f"{match['type']} at {int(match['id']):#x}" if kind == "identity" else match["type"]
        return _Read(kind, match["source"], old)
    if match := _LENGTH.match(text):
        # torch states the guard, ``len(x) == 2``, or for dictionaries what it found instead:
        # ``len(x) != 2``.
        return _Read("length", match["source"], match["old"])
    if match := _EMPTY.match(text):
        return _Read("length", match["source"], "0")
    if match := _KEY.match(text):
        return _Read("keys", match["source"], match["old"])
    if match := _HAS.match(text):
        return _Read("attribute", match["source"], match["old"] or "")
    if match := _SIZE.search(text):
        return _Read(match["what"], match["source"], _bounds(text), "", int(match["index"]))
    if match := _VALUE.match(text):
        source, old = match["source"], match["old"]
        if match["test"] == "!=":
            old = f"not {old}"
        return _Read("global" if source.startswith("G[") else "value", source, old)
    if (match := _NUMBER.match(text)) and match["source"] != text:
        return _Read("range", match["source"], _bounds(text))
    return _Read()


def _bounds(text: str) -> str:
    """The values that a symbolic relation allows, in words; relations of more parts unchanged."""
    if equal := _EQUAL.match(text):
        return f"the same as {equal['other']}({equal['at']})"
    if unequal := _UNEQUAL.match(text):
        return f"not {unequal['number']}"
    match = _RANGE.match(text)
    if match is None or not (match["low"] or match["high"]):
        return text
    if match["low"] and match["high"]:
        return f"{match['low']} to {match['high']}"
    return f"at least {match['low']}" if match["low"] else f"at most {match['high']}"


def _new(read: _Read, expression: str, now: Values) -> str:
    """The value that the new compilation was compiled for."""
    if read.kind in ("size", "stride") and read.dimension is not None:
        return now.extent(read.source, read.kind, read.dimension)
    if read.kind in _STATES:
        return _state(read, now)
    if read.kind == "type":
        return now.type_of(read.source)
    if read.kind == "length":
        length = now.length(read.source)
        return length or ("at least 1" if read.old == "0" else "")
    return now.value(expression, read.source)


def _state(read: _Read, at: Values | None) -> str:
    """A global state as in a compilation's guard on it."""
    if at is None or read.kind not in _STATES:
        return ""
    return state_values(read.source, at.global_state())


def _source(text: str, frames_values: Sequence[Values | None]) -> str:
    """A source in Dynamo's notation: ``L['x']`` for ``x`` in the reason."""
    for values in frames_values:
        if values and (full := values.full(text)):
            return full
    head = re.match(r"[A-Za-z_]\w*", text)
    return f"L['{head.group()}']{text[head.end() :]}" if head and text[:2] != "G[" else text
