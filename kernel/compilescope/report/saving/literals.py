"""Removes the user's literals, strings and numbers, from torch's messages and keeps names."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .redaction_mark import CONSTANT

_STRING = re.compile(r"(?<!\w)[bru]{0,2}('(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")")
_KEPT_BEFORE = ("L[", "G[", "_modules[", "_parameters[", "_buffers[", "tensor ", "set_stance(")
"""The text before a quoted name of a local, a global, a part of a module or a stance of torch's."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[+-]?\d+)?j?(?!\w)")
_COMPARED = re.compile(r"[=!<>]=?\s|\bin\b")
_SHAPES = re.compile(
    r"\.(?:size|stride|storage_offset|dim|ndimension)\(|check_tensor|mismatch|len\(|Eq\(|Mod\(|"
    r"\bs\d+\b"
)
_RAISED = re.compile(
    r"^([ \t]*(?:[^\n]*?\b)?[\w.]*(?:Error|Exception|Warning|Interrupt|Exit)): "
    r"[^\n]*(?:\n(?![ \t]*(?:File |Traceback|During |The above|Explanation:|Hint:|\n))[^\n]+)*",
    re.M,
)
_OWN = re.compile(r"^(The subject raised [\w.]+): .*", re.S)
_CONSTRUCTED = re.compile(r"\b(\w*(?:Error|Exception|ConstantVariable))\([^()\n]+\)")
_REASON = re.compile(r"(?:^\d+/\d+: |\bThe last reason: )([^\n]+)", re.M)
_KEY = re.compile(r"(?<=[\w\]])\[-?\d+(?:\.\d*|\d)\]")
"""A number of two and more digits, or with a point, that is a key or an index."""
_LAST = re.compile(
    r"^([A-Za-z_][\w.]*): .*?(?=\n\nTraceback|\n\nDuring|\n\nThe above|\Z)", re.M | re.S
)
_TENSOR = re.compile(r"\w+\[[^\]]*\] [\w:]+")
_EXCEPTION = re.compile(r"(?:Error|Exception|Warning|Interrupt|Exit)$")
_PLAIN = ("None", "True", "False")
_VALUES = ("value", "global", "keys", "attribute", "identity", "other", "")
"""Kinds of failed guards whose old and new values are the user's."""
_LEFT_OUT = "(left out)"
_LONG_LINE = re.compile(r"[^\n]{5000,}")
"""The longest line that is searched, since a search may take time quadratic in the length."""


def strings(text: str) -> str:
    """The text without quoted strings, except names of variables and of modules' parts."""

    def replaced(match: re.Match[str]) -> str:
        before = text[max(0, match.start() - 12) : match.start()]
        return match.group() if before.endswith(_KEPT_BEFORE) else f"'{CONSTANT}'"

    return _KEY.sub(f"[{CONSTANT}]", _STRING.sub(replaced, text))


def quoted(text: str) -> list[str]:
    """The quoted strings in a text, without their quotes."""
    return [literal[1:-1] for literal in _STRING.findall(text) if len(literal) > len("''")]


def guard(text: str) -> str:
    """A guard's expression, or why it failed, without the values that it compares with."""
    text = strings(text)
    compared = _COMPARED.search(text)
    if compared is None or _SHAPES.search(text):
        return text
    head, tail = text[: compared.start()], text[compared.start() :]
    expression, comment, rest = tail.partition("  # ")
    return head + _NUMBER.sub(CONSTANT, expression) + comment + rest


def failure(text: str) -> str:
    """A message without the texts of exceptions and without quoted texts."""
    text = _OWN.sub(rf"\1: {_LEFT_OUT}", text)
    if text.startswith("Traceback"):
        text = _LAST.sub(rf"\1: {_LEFT_OUT}", text)
    text = _REASON.sub(
        lambda match: match.group().removesuffix(match.group(1)) + guard(match.group(1)), text
    )
    text = _CONSTRUCTED.sub(rf"\1({CONSTANT})", text)
    return strings(_RAISED.sub(rf"\1: {_LEFT_OUT}", text))


def argument(line: str) -> str:
    """``x: float32[4, 8] cpu`` unchanged; any other value is replaced by a note."""
    name, colon, value = line.partition(": ")
    if not colon or value in _PLAIN or _TENSOR.fullmatch(value):
        return line
    tensors = _TENSOR.findall(value)
    return f"{name}: {', '.join([*tensors, _LEFT_OUT])}"


def _cleaner(clean: Callable[[str], str]) -> Callable[[Any], Any]:
    def cleaned(value: Any) -> Any:
        if isinstance(value, str):
            return clean(_LONG_LINE.sub(_LEFT_OUT, value))
        if isinstance(value, list):
            return [cleaned(item) for item in value]
        if isinstance(value, dict):
            return {key: cleaned(item) for key, item in value.items()}
        return value

    return cleaned


_FIELDS: tuple[tuple[frozenset[str], dict[str, Callable[[str], str]]], ...] = (
    (
        frozenset({"expression", "origin", "why"}),
        {"expression": guard, "source": strings, "why": strings},
    ),
    (frozenset({"accessor", "value_type"}), {"accessor": strings, "source": strings}),
    (frozenset({"guard", "old", "new"}), {"guard": guard, "source": strings}),
    (frozenset({"kind", "what", "code", "where"}), {"what": strings, "code": strings}),
    (frozenset({"reasons", "failures"}), {"reasons": guard, "became_dynamic": strings}),
    (
        frozenset({"severity", "what", "remedy"}),
        {"what": failure, "why": failure, "remedy": strings, "detail": failure, "facts": failure},
    ),
    (
        frozenset({"reason", "explanation", "hints"}),
        dict.fromkeys(("reason", "explanation", "context", "hints", "eager"), failure),
    ),
    (frozenset({"cause", "count", "advice"}), {"advice": failure}),
    (
        frozenset({"expression", "provenance", "locals"}),
        {"expression": guard, "locals": lambda _: _LEFT_OUT, "sources": strings},
    ),
    (frozenset({"name", "source", "range"}), {"source": strings}),
    (frozenset({"device", "arguments"}), {"arguments": argument}),
    (frozenset({"name", "size_bytes", "text"}), {"text": lambda _: ""}),
    (frozenset({"absent"}), {"absent": failure}),
)
"""Fields that identify one of the report's structs → its fields that may hold a literal, each with
the function that removes it."""


def without_literals(value: dict[str, Any]) -> dict[str, Any]:
    """One struct of a report, as plain data, without the user's literals."""
    for marks, fields in _FIELDS:
        if marks <= value.keys():
            value = value | {
                name: _cleaner(clean)(value[name])
                for name, clean in fields.items()
                if name in value
            }
    if {"severity", "facts"} <= value.keys() and _EXCEPTION.search(
        value["facts"].get("fail_type", "")
    ):
        # torch writes an exception's message, followed by its traceback.
        _, mark, trace = value["detail"].partition("\n\nTraceback")
        value = value | {
            "why": value["why"] and _LEFT_OUT,
            "detail": value["detail"] and f"{_LEFT_OUT}{mark}{trace}",
        }
    if {"guard", "old", "new", "kind"} <= value.keys() and value["kind"] in _VALUES:
        value = value | {side: _LEFT_OUT for side in ("old", "new") if value[side]}
    return value
