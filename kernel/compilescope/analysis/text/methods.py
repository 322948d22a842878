"""Finds the class of a method in the file that defines it."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from ...report import SourceLine
from ...report.resumed import plain_function
from .source_files import source_lines

_ESCAPE = re.compile(r"\\(?:N\{[^}]*\}|[^\n])")
"""Invalid ones make Python warn of code that is not being run."""


def qualified_name(frame: SourceLine) -> str:
    """``Block.forward`` for a method whose class its file shows; else the function's name.

    Parameters
    ----------
    frame
        A function and its first line; the rest of one after a graph break has its first line too.
    """
    lines = source_lines(frame.file)
    text = "".join("\n" if line.startswith(("%", "!")) else line for line in lines)
    name = _classes(text).get((plain_function(frame.function), frame.line), "")
    return f"{name}.{frame.function}" if name else frame.function


@lru_cache(maxsize=32)
def _classes(text: str) -> dict[tuple[str, int], str]:
    """The name and the first line of each method, a decorator's if there is one → its class."""
    try:
        tree = ast.parse(_ESCAPE.sub("__", text))
    except (SyntaxError, ValueError):
        return {}
    return {
        (method.name, min(node.lineno for node in (method, *method.decorator_list))): owner.name
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for method in owner.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
    }
