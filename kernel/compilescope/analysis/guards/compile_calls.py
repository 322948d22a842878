"""The user's ``torch.compile`` of a function, as written, with ``dynamic=True`` added."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...report import SourceLine
from ..problems.breaks import plain_function
from .advice_names import Definition, Names, definition_of, functions_in, statements_in
from .frames import Caller

_COMPILE = "torch.compile"


class DynamicCall(NamedTuple):
    """A ``torch.compile`` in the source, with ``dynamic=True`` added."""

    code: str
    was_dynamic: bool
    """Whether the user's own call has ``dynamic=True``."""


def with_dynamic(
    frame: SourceLine | None, caller: Caller | None, names: Names
) -> DynamicCall | None:
    """The ``torch.compile`` of a frame; None if it cannot be read from the source."""
    if frame is None:
        return None
    function = plain_function(frame.function)
    definition = _definition(frame, function)
    if definition is not None and definition.is_compiled:
        return _only(filter(None, map(_of_decorator, definition.decorators)))
    files = list(dict.fromkeys([*([caller.where.file] if caller else []), frame.file]))
    statements = [statement for file in files for statement in statements_in(file)]
    if function == frame.function and names.call is not None:
        # With a wrapper in between, the compiled function has another name than the frame.
        others = (
            {name for file in files for name in functions_in(file)} - {function}
            if names.function
            else set()
        )
        assigned = list(_assigned(statements, names.callee, others))
        if assigned:
            return _only(assigned)
    return _only(_of_function(statements, function))


def _only(calls: Iterable[DynamicCall]) -> DynamicCall | None:
    """The call, if there is only one; written several times, it counts once."""
    different = list(dict.fromkeys(calls))
    return different[0] if len(different) == 1 else None


def _definition(frame: SourceLine, function: str) -> Definition | None:
    if function == frame.function:
        return definition_of(frame)
    # After a graph break, Dynamo's resume function begins at another line.
    definitions = functions_in(frame.file).get(function, [])
    return definitions[0] if len(definitions) == 1 else None


def _of_decorator(decorator: ast.expr) -> DynamicCall | None:
    if ast.unparse(decorator) == _COMPILE:
        return DynamicCall(f"@{_COMPILE}(dynamic=True)", was_dynamic=False)
    return _dynamic(decorator, "@")


def _assigned(
    statements: Iterable[ast.stmt], callee: str, others: set[str]
) -> Iterator[DynamicCall]:
    """How the called name is compiled: ``callee = torch.compile(…)``, ``callee.compile(…)``."""
    for statement in statements:
        if isinstance(statement, ast.Assign):
            is_callee = callee in map(ast.unparse, statement.targets)
            compiles = list(_calls(statement.value))
            names_another = any(
                isinstance(arg, ast.Name) and arg.id in others
                for call in compiles
                for arg in call.args
            )
            if is_callee and compiles and not names_another:
                dynamic = _dynamic(statement)
                if dynamic is not None:
                    yield dynamic
        elif (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and ast.unparse(statement.value.func) == f"{callee}.compile"
        ):
            dynamic = _dynamic(statement, func=f"{callee}.compile")
            if dynamic is not None:
                yield dynamic


def _of_function(statements: Iterable[ast.stmt], function: str) -> Iterator[DynamicCall]:
    """The calls ``torch.compile(function, …)``, and what they are assigned to."""
    assigned: set[int] = set()
    for statement in statements:
        simple = isinstance(statement, ast.Assign)
        for call in _calls(statement):
            first = call.args[0] if call.args else None
            if not isinstance(first, ast.Name) or first.id != function or id(call) in assigned:
                continue
            if simple:
                assigned.add(id(call))
            elif any(isinstance(part, ast.stmt) for part in ast.iter_child_nodes(statement)):
                continue  # a statement inside it is in the list too
            dynamic = _dynamic(statement if simple else call)
            if dynamic is not None:
                yield dynamic


def _calls(node: ast.AST, func: str = _COMPILE) -> Iterator[ast.Call]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and ast.unparse(part.func) == func:
            yield part


def _dynamic(node: ast.AST, prefix: str = "", func: str = _COMPILE) -> DynamicCall | None:
    """The code with ``dynamic=True`` in its call of ``func``.

    None without exactly one such call, or if the call has ``**options``.
    """
    node = copy.deepcopy(node)
    calls = list(_calls(node, func))
    if len(calls) != 1 or any(keyword.arg is None for keyword in calls[0].keywords):
        return None
    keywords = calls[0].keywords
    given = [keyword for keyword in keywords if keyword.arg == "dynamic"]
    was_dynamic = any(ast.unparse(keyword.value) == "True" for keyword in given)
    keywords[:] = [keyword for keyword in keywords if keyword.arg != "dynamic"]
    keywords.append(ast.keyword("dynamic", ast.Constant(True)))
    return DynamicCall(prefix + ast.unparse(node), was_dynamic)
