"""Calls of modules in the arguments of the inspected call, which are no part of it."""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..report import Problem

_FUNCTION = "compute"


Statement = ast.Expr | ast.Assign | ast.AnnAssign


def note_inner_calls(
    last: Statement, blocks: Sequence[ast.With], namespace: Mapping[str, Any]
) -> list[Problem]:
    """A warning if a cell's last call, such as a loss, is given the result of a module's call.

    Parameters
    ----------
    last, blocks
        The statement of that call, and the ``with`` blocks that it is in.
    namespace
        The cell's, before the call.
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
            facts={"inner_call": inner[0]},
            remedy=f"To inspect all of it, {in_a_function(last, blocks, namespace)}",
        )
    ]


def in_a_function(last: Statement, blocks: Sequence[ast.With], namespace: Mapping[str, Any]) -> str:
    """How to end a cell so that a function computes what its last statement does.

    Parameters
    ----------
    last, blocks
        The statement, and the ``with`` blocks that it is in.
    namespace
        The cell's, before the statement; or before the cell, if that has not run.
    """
    assert last.value is not None
    names = {node.id for node in ast.walk(last.value) if isinstance(node, ast.Name)}
    name = _FUNCTION
    while name in names:  # the user's own function
        name = f"{name}_all"
    parameters = ", ".join(_parameters(last.value, namespace))
    ending = copy.copy(last)
    ending.value = ast.parse(f"{name}({parameters})", mode="eval").body
    function = f"def {name}({parameters}):\n    return {ast.unparse(last.value)}"
    inside: ast.stmt = ending
    for block in reversed(blocks):
        inside = ast.With(items=block.items, body=[*block.body[:-1], inside])
    code = f"{function}\n{ast.unparse(ast.fix_missing_locations(inside))}"
    return f"end the cell in a function, and its call:\n\n{textwrap.indent(code, '    ')}"


def without_backward(
    last: Statement, blocks: Sequence[ast.With], namespace: Mapping[str, Any]
) -> str:
    """How to end a cell whose last statement calls ``backward()``: in what it is called on."""
    method = last.value.func if isinstance(last.value, ast.Call) else None
    forward = method.value if isinstance(method, ast.Attribute) else None
    if not isinstance(forward, ast.Call):
        value = ast.unparse(forward) if forward is not None else "the loss"
        return f"end the cell in the call that computes {value}."
    if _is_whole(forward, namespace):
        return f"end the cell in {ast.unparse(forward)}."
    ending = copy.copy(last)
    ending.value = forward
    return in_a_function(ending, blocks, namespace)


def _is_whole(call: ast.Call, namespace: Mapping[str, Any]) -> bool:
    """Whether a call of a function computes all of an expression: its arguments call nothing."""
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return (
        isinstance(call.func, ast.Name)
        and call.func.id in namespace
        and not any(isinstance(node, ast.Call) for part in arguments for node in ast.walk(part))
    )


def _parameters(expression: ast.expr, namespace: Mapping[str, Any]) -> list[str]:
    """The names of tensors in an expression, and of what the cell itself assigns."""
    import torch

    nodes = list(ast.walk(expression))
    # What is only called, or has methods that are called, may be a function or a package.
    called = {id(_base(node.func)) for node in nodes if isinstance(node, ast.Call)}
    # Of a comprehension or a lambda.
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    names: dict[str, bool] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id not in bound:
            names[node.id] = names.get(node.id, False) or id(node) not in called
    return [
        name
        for name, is_value in names.items()
        if isinstance(namespace.get(name), torch.Tensor)
        or not (name in namespace or not is_value or hasattr(builtins, name))
    ]


def _base(function: ast.expr) -> ast.expr:
    """What a called function is, or is an attribute of."""
    while isinstance(function, ast.Attribute):
        function = function.value
    return function


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

    return isinstance(value_of(function, namespace), torch.nn.Module)


def value_of(expression: ast.expr, namespace: Mapping[str, Any]) -> Any:
    """What a name or an attribute of one refers to; None for other expressions."""
    if isinstance(expression, ast.Name):
        return namespace.get(expression.id)
    if isinstance(expression, ast.Attribute):
        with contextlib.suppress(Exception):  # the user's own properties may raise
            return getattr(value_of(expression.value, namespace), expression.attr)
    return None
