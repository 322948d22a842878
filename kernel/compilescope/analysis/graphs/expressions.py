"""Parses the right-hand side of a line of a graph's text into the node's kind."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..text.brackets import closing


class Expression(NamedTuple):
    """An FX node's operation, target and arguments."""

    op: str
    target: str
    args: str


_DOTTED = re.compile(r"[A-Za-z_][\w.]*")
_ITEM = re.compile(r'^getattr\((self[\w.]*), "([^"]+)"\)')
_ATTRIBUTE = re.compile(r"([A-Za-z_]\w*)\.([A-Za-z_]\w*)$")
_UPDATE = re.compile(r"([A-Za-z_]\w*) (\S{1,3})= (.*)$", re.S)
_UNARY = {"-": "operator.neg", "~": "operator.invert", "+": "operator.pos"}
_BINARY = {
    "+": "operator.add",
    "-": "operator.sub",
    "*": "operator.mul",
    "/": "operator.truediv",
    "//": "operator.floordiv",
    "%": "operator.mod",
    "**": "operator.pow",
    "@": "operator.matmul",
    "&": "operator.and_",
    "|": "operator.or_",
    "^": "operator.xor",
    "<<": "operator.lshift",
    ">>": "operator.rshift",
    "<": "operator.lt",
    "<=": "operator.le",
    ">": "operator.gt",
    ">=": "operator.ge",
    "==": "operator.eq",
    "!=": "operator.ne",
}
_INPLACE = {
    "+": "operator.iadd",
    "-": "operator.isub",
    "*": "operator.imul",
    "/": "operator.itruediv",
    "//": "operator.ifloordiv",
    "%": "operator.imod",
    "**": "operator.ipow",
    "@": "operator.imatmul",
    "&": "operator.iand",
    "|": "operator.ior",
    "^": "operator.ixor",
    "<<": "operator.ilshift",
    ">>": "operator.irshift",
}
_OPERAND = r"(?:[A-Za-z_][\w.]*|\([^()]*\)|'[^']*'|-?[\d.]+(?:e[+-]?\d+)?)"
_INFIX = re.compile(rf"({_OPERAND}) (\*\*|//|<<|>>|<=|>=|==|!=|[-+*/%@&|^<>]) ({_OPERAND})$", re.S)


def read_expression(text: str, values: dict[str, object]) -> Expression:
    """Read what FX printed to the right of ``=``.

    Parameters
    ----------
    text
        One expression, as FX's code generator writes it for one node.
    values
        The names of the nodes so far: ``x.sin()`` is a method call where ``x`` is one.
    """
    update = _UPDATE.match(text)
    if update and update.group(2) in _INPLACE:
        return Expression(
            "call_function", _INPLACE[update.group(2)], f"{update.group(1)}, {update.group(3)}"
        )
    while text.startswith("getattr(self"):
        # ``self.blocks.0`` is not valid Python, so FX writes getattr(self.blocks, "0").
        plain = _ITEM.sub(r"\1.\2", text)
        if plain == text:
            break
        text = plain
    dotted = _DOTTED.match(text)
    if dotted is None:
        if text[:1] in _UNARY and len(text) > 1:
            return Expression("call_function", _UNARY[text[0]], text[1:])
        infix = _INFIX.match(text)
        if infix:
            return _infix(infix)
        return Expression("call_function", "", text)
    path, rest = dotted.group(), text[dotted.end() :]
    owner, _, attribute = path.partition(".")
    if rest.startswith("(") and closing(rest, 0) == len(rest):
        inside = rest[1:-1]
        if owner == "self":
            return Expression("call_module", attribute, inside)
        if attribute and owner in values:
            args = f"{owner}, {inside}" if inside else owner
            return Expression("call_method", attribute, args)
        return Expression("call_function", path, inside)
    if rest.startswith("[") and closing(rest, 0) == len(rest):
        if owner == "self":
            return Expression("get_attr", path[5:] + rest, "")
        return Expression("call_function", "operator.getitem", f"{path}, {rest[1:-1]}")
    if not rest:
        if owner == "self":
            return Expression("get_attr", attribute, "")
        match = _ATTRIBUTE.match(path)
        if match and owner in values:
            return Expression("call_function", "getattr", f"{owner}, {attribute!r}")
    infix = _INFIX.match(text)
    if infix:
        return _infix(infix)
    if owner == "self" and rest.startswith("."):
        return Expression("get_attr", text[5:], "")
    return Expression("call_function", "", text)


def _infix(match: re.Match[str]) -> Expression:
    left, operator, right = match.groups()
    return Expression("call_function", _BINARY[operator], f"{left}, {right}")
