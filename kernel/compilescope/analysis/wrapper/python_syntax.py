"""Parses a Python wrapper's statements with Python's own parser."""

from __future__ import annotations

import ast
from functools import lru_cache

_REMEMBERED = 8192
"""Several readers ask for the same statements, one after the other."""


@lru_cache(maxsize=_REMEMBERED)
def parse(text: str) -> tuple[ast.stmt, ...]:
    """Parse a statement, or several on one line; empty if the text is no Python, as when cut off.

    Parameters
    ----------
    text
        On one line, without indentation. The head of a block (``with …:``) has an empty body.
    """
    source = f"{text} pass" if text.endswith(":") else text
    try:
        return tuple(ast.parse(source).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def source_of(text: str, node: ast.expr) -> str:
    """Return the part of a statement's text that an expression stands for."""
    if text.isascii():
        return text[node.col_offset : node.end_col_offset]
    return ast.get_source_segment(text, node) or ""


def root_of(node: ast.expr) -> str:
    """Return the variable that an expression begins with: ``a`` of ``a.b[0]``; empty for others."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.expr) -> str:
    """Return a dotted name as text; empty for another expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(names)])


def items(node: ast.expr) -> list[ast.expr]:
    """Return the items of a tuple; another expression is the only item."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def first_call(node: ast.expr) -> ast.Call | None:
    """Return the call that an expression begins with: ``f(a)`` of ``f(a)[0].b(c)``."""
    call = None
    while True:
        if isinstance(node, ast.Call):
            call, node = node, node.func
        elif isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.BinOp):
            node = node.left
        else:
            return call
