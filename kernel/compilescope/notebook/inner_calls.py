"""Calls of modules in the arguments of the inspected call, which are no part of it."""

from __future__ import annotations

import ast
import contextlib
import copy
from collections.abc import Iterator, Mapping
from typing import Any

from ..report import Problem

_FUNCTION = "compute"


Statement = ast.Expr | ast.Assign | ast.AnnAssign


def note_inner_calls(last: Statement, namespace: Mapping[str, Any]) -> list[Problem]:
    """A warning if a cell's last call, such as a loss, is given the result of a module's call.

    Parameters
    ----------
    last
        The statement of that call.
    namespace
        The cell's, after the call.
    """
    call = last.value
    assert isinstance(call, ast.Call)
    inner = [ast.unparse(node) for node in _calls_in(call) if _is_module(node.func, namespace)]
    if not inner:
        return []
    outer = ast.unparse(call.func)
    return [
        Problem(
            severity="warning",
            what=f"`{inner[0]}` is not part of the inspected call.",
            why=f"%%compile inspects {outer}(...), the outermost call of the last statement; its "
            "arguments were evaluated before.",
            remedy="To inspect all of it, put it into a function, and call that:\n\n"
            f"{in_a_function(last, namespace)}",
        )
    ]


def in_a_function(last: Statement, namespace: Mapping[str, Any]) -> str:
    """A cell that does what a statement does in a function of the tensors in it."""
    import torch

    assert last.value is not None
    names = {
        node.id: None
        for node in ast.walk(last.value)
        if isinstance(node, ast.Name) and isinstance(namespace.get(node.id), torch.Tensor)
    }
    parameters = ", ".join(names)
    call = ast.parse(f"{_FUNCTION}({parameters})", mode="eval").body
    changed = copy.copy(last)
    changed.value = call
    return (
        f"    %%compile\n    def {_FUNCTION}({parameters}):\n"
        f"        return {ast.unparse(last.value)}\n    {ast.unparse(changed)}"
    )


def _calls_in(call: ast.Call) -> Iterator[ast.Call]:
    """The calls that were made for it: not those in a function that it is given."""
    waiting: list[ast.AST] = [call.func, *call.args, *call.keywords]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            yield node
        waiting.extend(ast.iter_child_nodes(node))


def _is_module(function: ast.expr, namespace: Mapping[str, Any]) -> bool:
    import torch

    return isinstance(_value_of(function, namespace), torch.nn.Module)


def _value_of(expression: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What a name or an attribute of one refers to; None for other expressions."""
    if isinstance(expression, ast.Name):
        return namespace.get(expression.id)
    if isinstance(expression, ast.Attribute):
        with contextlib.suppress(Exception):  # the user's own properties may raise
            return getattr(_value_of(expression.value, namespace), expression.attr)
    return None
