"""The names of a compiled function and its arguments at the call site."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from ....report import SourceLine
from ...text.source_files import source_lines
from ..frames import Caller

_ROOT = re.compile(r"([LG])\['(\w+)'\](.*)$", re.S)
_ITEM = re.compile(r"\[(\d+|'\w+')\]")
_Function = ast.FunctionDef | ast.Lambda
_SELF = "self"
_VIEWS = ("T", "mT", "H", "mH", "data", "real", "imag")
"""Attributes of a tensor that are a new tensor each time."""


class PassedArgument(NamedTuple):
    """What a caller passes for a parameter, and the path from it to the guarded value."""

    parameter: str
    expression: str
    rest: str
    name: str
    """A new name for it, if the caller has none."""
    is_parameter: bool = False
    """Whether the call is unknown, so that only the function's own name for it is known."""

    @property
    def is_assignable(self) -> bool:
        """Whether the caller's expression is a place that keeps its object and can be assigned to.

        ``x.T``, ``data[:n]`` and ``data[i]`` are a new tensor each time: a mark on it has no
        effect.
        """
        try:
            node = ast.parse(self.expression, mode="eval").body
        except SyntaxError:
            return False
        # What has parts of its own is no tensor, so a number selects the same object each time.
        if isinstance(node, ast.Subscript) and not self.rest and not _is_key(node.slice):
            return False
        return _is_place(node)


def _is_key(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and isinstance(index.value, str)


def _is_place(node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr not in _VIEWS and _is_place(node.value)
    if isinstance(node, ast.Subscript):
        is_slice = any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))
        return not is_slice and _is_place(node.value)
    return isinstance(node, ast.Name)


@dataclass(frozen=True)
class Names:
    """A compiled function and its arguments, as the author of the call names them."""

    function: str
    """Its name in the definition; empty if the caller cannot use that name: a method, a lambda."""
    callee: str
    """Its name in the call."""
    call: ast.Call | None = None
    arguments: dict[str, ast.expr] = field(default_factory=dict)
    """Parameter → what is passed for it."""
    owner: str = _SELF
    """The first parameter of a method, usually ``self``."""
    collected: tuple[str, ...] = ()
    """``args`` and ``kwargs``: parameters that hold what the call passes under other names."""
    loops_over: frozenset[str] = frozenset()
    """The variables of the loops around the call."""
    is_in_source: bool = True
    """Whether the definition or the call is available; otherwise ``owner`` is only the usual name.
    """

    def expression(self, source: str) -> PassedArgument | None:
        """A guarded source in the caller's notation.

        ``L['x'].v`` is ``batch`` and ``.v`` if ``batch`` is passed for ``x``. None if it is not an
        argument, attribute or global of the user's.
        """
        match = _ROOT.match(source)
        if match is None:
            return None
        scope, name, rest = match.groups()
        if name.startswith("__") or re.search(r"_parameters\[|\.__\w+__|\.size\(\)", rest):
            return None
        if scope == "L" and (item := _ITEM.match(rest)) and f"{name}[{item[1]}]" in self.arguments:
            name, rest = f"{name}[{item[1]}]", rest[item.end() :]
        rest = re.sub(r"\._(?:modules|buffers)\['(\w+)'\]", r".\1", rest)
        if scope == "G":
            return PassedArgument(name, name, rest, name)
        passed = self.arguments.get(name)
        if passed is None:
            # If the call is known, a parameter that it does not pass has no name there.
            is_unknown = self.call is None and name not in (self.owner, *self.collected)
            return PassedArgument(name, name, rest, name, is_parameter=True) if is_unknown else None
        return PassedArgument(name, ast.unparse(passed), rest, self.new_name(name))

    def loop_variable(self, source: str) -> str:
        """The name of a guarded global that a loop around the call assigns; else empty."""
        match = _ROOT.match(source)
        is_global = match is not None and match[1] == "G" and not match[3]
        return match[2] if match is not None and is_global and match[2] in self.loops_over else ""

    def outside(self, *sources: str) -> str:
        """Say where code on these sources belongs; empty if it has the caller's names."""
        passed = [self.expression(source) for source in sources]
        names = dict.fromkeys(
            argument.parameter for argument in passed if argument and argument.is_parameter
        )
        if not names:
            return ""
        return (
            f" Put it before the call, on what is passed for {', '.join(names)}: inside the "
            "function it does not help."
        )

    def new_name(self, parameter: str) -> str:
        """A new name for what is passed for a parameter, which the call does not use yet."""
        used = {
            node.id
            for node in (ast.walk(self.call) if self.call is not None else ())
            if isinstance(node, ast.Name)
        }
        name = re.sub(r"\W+", "_", parameter).strip("_")
        while name in used:
            name += "_"
        return name

    def called_with(self, parameter: str, expression: str) -> str:
        """The call with another value for a parameter; empty if the call is unknown."""
        if self.call is None or parameter not in self.arguments:
            return ""
        old = self.arguments[parameter]
        new = ast.parse(expression, mode="eval").body
        args = [new if arg is old else arg for arg in self.call.args]
        keywords = [
            ast.keyword(keyword.arg, new if keyword.value is old else keyword.value)
            for keyword in self.call.keywords
        ]
        return ast.unparse(ast.Call(self.call.func, args, keywords))


def names_of(frame: SourceLine | None, caller: Caller | None) -> Names:
    """Find the definition and the call in the source, as far as it is available.

    Parameters
    ----------
    frame
        The first line of the compiled function.
    caller
        The call of it.
    """
    function = frame.function if frame else ""
    definition = definition_of(frame) if frame else None
    call = _call(caller, function, definition) if caller else None
    owner = definition.owner if definition is not None else ""
    name = "" if owner or function in _NAMELESS else function
    if call is None:
        collected = definition.collected if definition is not None else ()
        return Names(
            name,
            name,
            owner=owner or _SELF,
            collected=collected,
            is_in_source=definition is not None,
        )
    return Names(
        name,
        ast.unparse(call.func),
        call,
        _bound(call, definition),
        owner or _SELF,
        loops_over=_loop_variables(caller.where) if caller is not None else frozenset(),
    )


_NAMELESS = ("<lambda>", "inner", "forward")


class Definition(NamedTuple):
    """A function, and the first parameter of a method; empty for other functions."""

    node: _Function
    owner: str = ""

    @property
    def decorators(self) -> list[ast.expr]:
        """Its decorators, the outermost first."""
        return self.node.decorator_list if isinstance(self.node, ast.FunctionDef) else []

    @property
    def collected(self) -> tuple[str, ...]:
        """The parameters with one or two stars."""
        arguments = self.node.args
        return tuple(star.arg for star in (arguments.vararg, arguments.kwarg) if star is not None)

    @property
    def is_compiled(self) -> bool:
        """Whether a decorator compiles it: ``@torch.compile``, with or without arguments."""
        return any("compile" in ast.unparse(decorator) for decorator in self.decorators)


def definition_of(frame: SourceLine) -> Definition | None:
    """The definition of a function whose first line is known; None if it is not found."""
    definitions = _outline(frame.file).functions.get((frame.function, frame.line), [])
    return definitions[0] if len(definitions) == 1 else None


def _call(caller: Caller, function: str, definition: Definition | None) -> ast.Call | None:
    calls = [node for node in _statement_nodes(caller.where) if isinstance(node, ast.Call)]
    for call in calls:
        if caller.span == (call.lineno, call.end_lineno, call.col_offset, call.end_col_offset):
            # `list(map(compiled, batches))` calls the function in C: its own arguments are others.
            return None if ast.unparse(call.func) in vars(builtins) else call
    named = [call for call in calls if ast.unparse(call.func).rpartition(".")[2] == function]
    fitting = named or [call for call in calls if definition and _fits(call, definition)]
    return fitting[0] if len(fitting) == 1 else None


def _statement_nodes(caller: SourceLine) -> Iterator[ast.AST]:
    """The nodes of the statement that a line belongs to; without its file, of the line alone."""
    statements = [
        node
        for first, last, node in _outline(caller.file).statements
        if first <= caller.line <= last
    ]
    if statements:
        # Several may be on one line, and outer ones contain inner ones.
        for node in {
            id(node): node for statement in statements for node in ast.walk(statement)
        }.values():
            line = getattr(node, "lineno", caller.line)
            if line <= caller.line <= (getattr(node, "end_lineno", None) or line):
                yield node
        return
    for text in (caller.code, f"{caller.code} pass"):
        try:
            yield from ast.walk(ast.parse(text.strip()))
        except SyntaxError:
            continue
        return


def _loop_variables(caller: SourceLine) -> frozenset[str]:
    """What the loops around a line assign in each iteration."""
    return frozenset(
        node.id
        for first, last, statement in _outline(caller.file).statements
        if isinstance(statement, ast.For) and first <= caller.line <= last
        for node in ast.walk(statement.target)
        if isinstance(node, ast.Name)
    )


def _fits(call: ast.Call, definition: Definition) -> bool:
    names, arguments = _parameters(definition), definition.node.args
    parameters = {*names, *(kwonlyarg.arg for kwonlyarg in arguments.kwonlyargs)}
    passed = len(call.args) + len(call.keywords)
    required = len(names) - len(arguments.defaults)
    plain = not any(isinstance(arg, ast.Starred) for arg in call.args)
    return (
        plain
        and required <= passed <= len(parameters)
        and {keyword.arg for keyword in call.keywords} <= parameters
    )


def _parameters(definition: Definition) -> list[str]:
    """The names of the parameters, without a method's ``self``."""
    names = _positional(definition.node)
    return names[1:] if definition.owner else names


def _positional(function: _Function) -> list[str]:
    return [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]]


def _bound(call: ast.Call, definition: Definition | None) -> dict[str, ast.expr]:
    bound = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    if definition is not None and not any(isinstance(arg, ast.Starred) for arg in call.args):
        names = _parameters(definition)
        bound.update(zip(names, call.args, strict=False))
        vararg = definition.node.args.vararg
        if vararg is not None:
            more = enumerate(call.args[len(names) :])
            bound |= {f"{vararg.arg}[{index}]": node for index, node in more}
        kwarg = definition.node.args.kwarg
        if kwarg is not None:
            keywords = [name for name in bound if name.isidentifier()]
            bound |= {f"{kwarg.arg}['{name}']": bound[name] for name in keywords}
        owner = _owner(call, definition)
        if owner is not None:
            bound[definition.owner] = owner
    return bound


def _owner(call: ast.Call, definition: Definition) -> ast.expr | None:
    """The object whose method is called, if the call shows it."""
    if not isinstance(definition.node, ast.FunctionDef) or not definition.owner:
        return None
    if definition.node.name in ("forward", "__call__"):
        return call.func
    return call.func.value if isinstance(call.func, ast.Attribute) else None


class _Outline(NamedTuple):
    """The functions and statements of a file; cached, since a watch asks for every recompile."""

    functions: dict[tuple[str, int], list[Definition]]
    """By name and first line, a decorator's if there is one."""
    statements: list[tuple[int, int, ast.stmt]]
    """With their first and last lines, the outer ones first."""


@lru_cache(maxsize=32)
def _parsed(text: str) -> _Outline:
    outline = _Outline({}, [])
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return outline
    methods: set[ast.AST] = set()
    for node in ast.walk(tree):  # a class comes before its contents
        if isinstance(node, ast.ClassDef):
            methods.update(node.body)
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            definition = Definition(node, _owner_name(node, is_method=node in methods))
            outline.functions.setdefault((node.name, first), []).append(definition)
        elif isinstance(node, ast.Lambda):
            outline.functions.setdefault(("<lambda>", node.lineno), []).append(Definition(node))
        if isinstance(node, ast.stmt):
            outline.statements.append((node.lineno, node.end_lineno or node.lineno, node))
    return outline


def _owner_name(function: ast.FunctionDef, *, is_method: bool) -> str:
    """The first parameter of a method, usually ``self``; empty if it is none."""
    first = next(iter(_positional(function)), "")
    static = any(ast.unparse(decorator) == "staticmethod" for decorator in function.decorator_list)
    return first if first == _SELF or (is_method and not static) else ""


def _outline(file: str) -> _Outline:
    """A file's functions and statements; empty without the file. Magics are left out."""
    lines = source_lines(file)
    return _parsed("".join("\n" if line.startswith(("%", "!")) else line for line in lines))


def statements_in(file: str) -> list[ast.stmt]:
    """A file's statements, the outer ones first."""
    return [statement for _, _, statement in _outline(file).statements]


def functions_in(file: str) -> dict[str, list[Definition]]:
    """A file's functions by name."""
    by_name: dict[str, list[Definition]] = {}
    for (name, _), definitions in _outline(file).functions.items():
        by_name.setdefault(name, []).extend(definitions)
    return by_name
