"""Prints each symbolic size of a graph once.

With its trace on, torch prints every graph with the shape and strides of each node, and sympy
prints a symbolic size again each time. The text depends on the expression alone.

Relies on ``torch.fx.experimental.sym_node.SymNode`` (str, expr).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import sympy
import torch
from torch.fx.experimental.sym_node import SymNode

from ..process.patching import patched

_texts: ContextVar[dict[Any, str] | None] = ContextVar("compilescope_printed_sizes", default=None)


@contextmanager
def printed_once() -> Iterator[None]:
    """Keeps the texts of the sizes that torch prints in this context, and reuses them."""
    token = _texts.set({})
    try:
        with patched(SymNode, "str", _str):
            yield
    finally:
        _texts.reset(token)


# Compiled autograd prints its graph while Dynamo compiles whatever is called.
@torch.compiler.disable  # type: ignore[untyped-decorator]
def _str(original: Callable[[Any], str], self: Any) -> str:
    texts = _texts.get()
    expression = None if texts is None else self.expr
    if texts is None or not isinstance(expression, sympy.Basic):
        return original(self)
    text = texts.get(expression)
    if text is None:
        text = texts[expression] = original(self)
    return text
