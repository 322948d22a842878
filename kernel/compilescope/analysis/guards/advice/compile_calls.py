"""The user's ``torch.compile`` of a function, as written, with ``dynamic=True`` added."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ....report import SourceLine
from ....report.resumed import plain_function
from ...text.source_files import source_lines
from ..frames import Caller
from .advice_names import Definition, Names, definition_of, functions_in, statements_in

_COMPILE = "torch.compile"


class DynamicCall(NamedTuple):
    """A ``torch.compile`` in the source, with ``dynamic=True`` added."""

    where: SourceLine
    code: str
    """Empty if that cannot be written: the call has ``**options``."""
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
        return _only(
            dynamic
            for decorator in definition.decorators
            if (dynamic := _of_decorator(decorator, frame)) is not None
        )
    files = list(dict.fromkeys([*([caller.where.file] if caller else []), frame.file]))
    if function == frame.function and names.call is not None:
        # With a wrapper in between, the compiled function has another name than the frame.
        others = (
            {name for file in files for name in functions_in(file)} - {function}
            if names.function
            else set()
        )
        assigned = [dynamic for file in files for dynamic in _assigned(file, names.callee, others)]
        if assigned:
            return _only(assigned)
    return _only(dynamic for file in files for dynamic in _of_function(file, function))


def _only(calls: Iterable[DynamicCall]) -> DynamicCall | None:
    """The call, if there is only one; written several times, it counts once."""
    different: dict[str | SourceLine, DynamicCall] = {}
    for call in calls:
        different.setdefault(call.code or call.where, call)
    return next(iter(different.values())) if len(different) == 1 else None


def _definition(frame: SourceLine, function: str) -> Definition | None:
    if function == frame.function:
        return definition_of(frame)
    # After a graph break, Dynamo's resume function begins at another line.
    definitions = functions_in(frame.file).get(function, [])
    return definitions[0] if len(definitions) == 1 else None


def _of_decorator(decorator: ast.expr, frame: SourceLine) -> DynamicCall | None:
    if ast.unparse(decorator) == _COMPILE:
        return DynamicCall(frame, f"@{_COMPILE}(dynamic=True)", was_dynamic=False)
    return _dynamic(decorator, frame, "@")


def _assigned(file: str, callee: str, others: set[str]) -> Iterator[DynamicCall]:
    """How the called name is compiled: ``callee = torch.compile(…)``, ``callee.compile(…)``."""
    for statement in statements_in(file):
        if isinstance(statement, ast.Assign):
            is_callee = callee in map(ast.unparse, statement.targets)
            compiles = list(_calls(statement.value))
            names_another = any(
                isinstance(arg, ast.Name) and arg.id in others
                for call in compiles
                for arg in call.args
            )
            if is_callee and compiles and not names_another:
                dynamic = _dynamic(statement, _line_of(statement, file))
                if dynamic is not None:
                    yield dynamic
        elif (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and ast.unparse(statement.value.func) == f"{callee}.compile"
        ):
            where = _line_of(statement, file)
            dynamic = _dynamic(statement, where, func=f"{callee}.compile")
            if dynamic is not None:
                yield dynamic


def _of_function(file: str, function: str) -> Iterator[DynamicCall]:
    """The calls ``torch.compile(function, …)``, and what they are assigned to."""
    assigned: set[int] = set()
    for statement in statements_in(file):
        simple = isinstance(statement, ast.Assign)
        for call in _calls(statement):
            first = call.args[0] if call.args else None
            if not isinstance(first, ast.Name) or first.id != function or id(call) in assigned:
                continue
            if simple:
                assigned.add(id(call))
            elif any(isinstance(part, ast.stmt) for part in ast.iter_child_nodes(statement)):
                continue  # a statement inside it is in the list too
            dynamic = _dynamic(statement if simple else call, _line_of(call, file))
            if dynamic is not None:
                yield dynamic


def _line_of(node: ast.stmt | ast.expr, file: str) -> SourceLine:
    code = "".join(source_lines(file)[node.lineno - 1 : node.lineno]).strip()
    return SourceLine(file=file, line=node.lineno, code=code)


def _calls(node: ast.AST, func: str = _COMPILE) -> Iterator[ast.Call]:
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and ast.unparse(part.func) == func:
            yield part


def _dynamic(
    node: ast.AST, where: SourceLine, prefix: str = "", func: str = _COMPILE
) -> DynamicCall | None:
    """The code with ``dynamic=True`` in its call of ``func``; None if that is not exactly one."""
    node = copy.deepcopy(node)
    calls = list(_calls(node, func))
    if len(calls) != 1:
        return None
    if any(keyword.arg is None for keyword in calls[0].keywords):
        return DynamicCall(where, "", was_dynamic=False)
    keywords = calls[0].keywords
    dynamic = [keyword for keyword in keywords if keyword.arg == "dynamic"]
    was_dynamic = any(ast.unparse(keyword.value) == "True" for keyword in dynamic)
    keywords[:] = [keyword for keyword in keywords if keyword.arg != "dynamic"]
    keywords.append(ast.keyword("dynamic", ast.Constant(True)))
    return DynamicCall(where, prefix + ast.unparse(node), was_dynamic)
