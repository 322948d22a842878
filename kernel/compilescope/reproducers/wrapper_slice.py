"""Extracts the part of a Python wrapper that one launch needs: kernel, memory, arguments."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ..report.errors import CompilescopeError

_ALLOCATIONS = (
    "empty_strided",
    "reinterpret_tensor",
    "alloc_from_pool",
    "get_raw_stream",
    "align",
    "copy_if_misaligned",
)
"""Name prefixes of functions that create memory or scalars and compute no tensor."""
_CHECKS = ("assert_size_stride", "assert_alignment")
_EXAMPLES = ("get_args", "benchmark_compiled_module")
"""The functions in which torch creates example inputs: the second one before torch 2.12."""
_KERNEL_MAKERS = "async_compile"
_INSTEAD = "Reproduce the graph instead, at the stage post_grad."


@dataclass
class LaunchSlice:
    """The parts of its wrapper that a launch needs."""

    header: list[str]
    """Imports and other top-level statements, as source."""
    kernels: list[str]
    """The definitions of the kernels that it launches."""
    memory: list[str]
    """Statements that create its arguments, in order."""
    launch: str
    """The launch itself."""
    variables: list[str]
    """The variables of its arguments, in order."""
    arguments: list[str]
    """Its positional arguments: the variable of each, empty for any other expression."""
    outs: list[str]
    """The variables passed as ``out``, or created by the launch."""
    held: dict[str, str] = field(default_factory=dict)
    """Variable → the variable whose value it has before the launch: itself, or the one whose memory
    it reuses. Variables without a computed value are left out."""
    examples: set[str] = field(default_factory=set)
    """The graph's inputs among these."""
    sizes: dict[str, list[str]] = field(default_factory=dict)
    """Variable → its sizes in the wrapper."""


def slice_launch(
    wrapper: str, line: int, dtype_of: Callable[[str], str] = lambda name: ""
) -> LaunchSlice:
    """The part of a Python wrapper that the launch in one of its lines needs.

    Parameters
    ----------
    dtype_of
        Returns the type and device of the tensor that an operator stored in a variable, as further
        arguments of ``torch.empty_strided``; empty if unknown.

    Raises
    ------
    CompilescopeError
        The wrapper is not in torch's form, or an operator creates an argument's memory.
    """
    tree = ast.parse(wrapper)
    lines = wrapper.split("\n")
    function, before, statement, after = _find(tree, line)
    defined = _top_level(tree)
    sliced = LaunchSlice(
        header=_header(tree, lines, defined),
        kernels=[],
        memory=[],
        launch=ast.unparse(statement),
        variables=[],
        arguments=[],
        outs=[],
    )
    names = list(dict.fromkeys(_names(statement)))
    for name in names:
        if name in defined and _is_kernel(defined[name]):
            _add_kernel(name, defined, lines, sliced.kernels)
    parameters = {argument.arg for argument in function.args.args}
    variables = [
        name for name in names if name not in defined and _is_local(name, before, parameters)
    ]
    sliced.variables = variables
    call = next((node for node in ast.walk(statement) if isinstance(node, ast.Call)), None)
    if call is not None:
        sliced.arguments = [
            argument.id if isinstance(argument, ast.Name) else "" for argument in call.args
        ]
        sliced.outs = [
            name
            for keyword in call.keywords
            if keyword.arg == "out"
            for name in _names(keyword.value)
            if name in variables
        ]
    if isinstance(statement, ast.Assign):
        targets = [name for target in statement.targets for name in _names(target)]
        sliced.variables = variables = [name for name in variables if name not in targets]
        taken = _taken_results(targets, after)
        outs = list(taken) or targets
        sliced.outs += outs
        sliced.launch = "\n".join([sliced.launch, *taken.values(), f"return {', '.join(outs)}"])
    _Memory(tree, before, sliced, dtype_of).make(variables)
    return sliced


class _Memory:
    """Follows the variables of a launch back to their origin."""

    def __init__(
        self,
        tree: ast.Module,
        before: Sequence[ast.stmt],
        sliced: LaunchSlice,
        dtype_of: Callable[[str], str],
    ) -> None:
        self._before = before
        self._examples = _example_statements(tree)
        self._sliced = sliced
        self._dtype_of = dtype_of
        self._behind: dict[str, str] = {}
        """Variable → the variable whose memory it reuses."""

    def make(self, variables: Sequence[str]) -> None:
        missing = set(variables)
        statements: list[ast.stmt] = []
        for at in range(len(self._before) - 1, -1, -1):
            statement = self._before[at]
            if not isinstance(statement, ast.Assign):
                continue
            targets = {name for target in statement.targets for name in _names(target)}
            if not targets & missing:
                continue
            if _unpacks_inputs(statement):
                continue  # the graph's inputs, which have examples
            if not _makes_memory(statement.value):
                name = min(targets & missing)
                like = self._like(name, statement.value)
                if like is None:
                    operator = ast.unparse(getattr(statement.value, "func", statement.value))
                    raise CompilescopeError(
                        f"The memory of {name!r} cannot be made.",
                        f"{operator} makes it, and the report does not have its layout.",
                        _INSTEAD,
                    )
                statement = ast.Assign([ast.Name(name)], ast.parse(like, mode="eval").body)
                statements.insert(0, ast.fix_missing_locations(statement))
                missing -= targets
                missing |= {name for name in _names(statement.value) if self._is_variable(name, at)}
                continue
            statements.insert(0, statement)
            missing -= targets
            used = [name for name in _names(statement.value) if self._is_variable(name, at)]
            missing |= set(used)
            if len(targets) == 1 and used:
                self._behind[min(targets)] = used[0]
        inputs = self._inputs(missing)
        for statement in (
            statement for statement in [*inputs, *statements] if isinstance(statement, ast.Assign)
        ):
            sizes = _sizes(statement.value)
            if sizes is not None:
                self._sliced.sizes[ast.unparse(statement.targets[0])] = sizes
        for name, behind in reversed(self._behind.items()):
            if behind in self._sliced.sizes:
                self._sliced.sizes.setdefault(name, self._sliced.sizes[behind])
        self._sliced.memory = [ast.unparse(statement) for statement in [*inputs, *statements]]
        self._sliced.examples = missing
        for name in variables:
            holder = name
            while holder not in missing and not self._is_written(holder):
                holder = self._behind.get(holder, "")
                if not holder:
                    break
            if holder:
                self._sliced.held[name] = holder

    def _like(self, name: str, value: ast.expr) -> str | None:
        """An expression for a tensor like the one that an operator stored in a variable.

        The wrapper asserts its layout. The graph's node does not have it, since Inductor may let
        the operator choose another. No node has the type of a result that the next kernel adds the
        bias to, in place; a library's kernel gives the type that it is given.
        """
        dtype = self._dtype_of(name)
        if not dtype and isinstance(value, ast.Call) and value.args:
            function, first = ast.unparse(value.func), value.args[0]
            if function.startswith("extern_kernels.") and isinstance(first, ast.Name):
                dtype = f"dtype={first.id}.dtype, device={first.id}.device"
        for statement in self._before:
            if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
                continue
            call = statement.value
            if ast.unparse(call.func) == _CHECKS[0] and ast.unparse(call.args[0]) == name and dtype:
                size, stride = map(ast.unparse, call.args[1:3])
                return f"empty_strided({size}, {stride}, {dtype})"
        return None

    def _is_variable(self, name: str, at: int) -> bool:
        return any(
            name in {target_name for target in statement.targets for target_name in _names(target)}
            for statement in self._before[:at]
            if isinstance(statement, ast.Assign)
        )

    def _inputs(self, missing: set[str]) -> list[ast.stmt]:
        """The statements that create examples of the graph's inputs."""
        statements: list[ast.stmt] = []
        open_names = set(missing)
        for statement in reversed(self._examples):
            targets = {name for target in statement.targets for name in _names(target)}
            if targets & open_names:
                statements.insert(0, statement)
                open_names -= targets
                available = {
                    target_name
                    for example in self._examples
                    for target_name in _names(example.targets[0])
                }
                open_names |= available & set(_names(statement.value))
        if open_names:
            raise CompilescopeError(
                f"The input {min(open_names)!r} cannot be made.",
                "The wrapper has no example of it: it is no tensor and no size.",
                _INSTEAD,
            )
        return statements

    def _is_written(self, name: str) -> bool:
        """Whether anything except its own allocation uses the memory before the launch."""
        for statement in self._before:
            is_memory = isinstance(statement, ast.Assign) and _makes_memory(statement.value)
            if is_memory or isinstance(statement, ast.Delete):
                continue
            text = ast.unparse(statement)
            if not text.startswith(_CHECKS) and name in _names(statement):
                return True
        return False


def _taken_results(targets: Sequence[str], after: Sequence[ast.stmt]) -> dict[str, str]:
    """Variable → the statement that takes it out of the several results of a launch."""
    taken: dict[str, str] = {}
    for statement in after:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Subscript):
            (target,), value = statement.targets, statement.value
            is_result = isinstance(value.value, ast.Name) and value.value.id in targets
            if is_result and isinstance(target, ast.Name) and isinstance(value.slice, ast.Constant):
                taken.setdefault(target.id, ast.unparse(statement))
    return taken


def _find(
    tree: ast.Module, line: int
) -> tuple[ast.FunctionDef, list[ast.stmt], ast.stmt, Sequence[ast.stmt]]:
    """The function with a line, the statements before it, its own, and those after it."""
    functions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if not functions:
        raise CompilescopeError(
            "The launch is not in a function of the Python wrapper.",
            remedy=_INSTEAD,
        )
    function = max(functions, key=lambda node: node.lineno)
    before: list[ast.stmt] = []
    body: Sequence[ast.stmt] = function.body
    while True:
        at = next(
            i
            for i, statement in enumerate(body)
            if line <= (statement.end_lineno or statement.lineno)
        )
        before += body[:at]
        statement = body[at]
        inner = getattr(statement, "body", None)
        if not inner:
            return function, before, statement, body[at + 1 :]
        body = inner


def _names(node: ast.AST) -> list[str]:
    return [descendant.id for descendant in ast.walk(node) if isinstance(descendant, ast.Name)]


def _is_local(name: str, before: Sequence[ast.stmt], parameters: set[str]) -> bool:
    if name in parameters:
        return True
    return any(
        name in [target_name for target in statement.targets for target_name in _names(target)]
        for statement in before
        if isinstance(statement, ast.Assign)
    )


def _unpacks_inputs(statement: ast.Assign) -> bool:
    return isinstance(statement.value, ast.Name) and statement.value.id == "args"


def _makes_memory(value: ast.expr) -> bool:
    if isinstance(value, ast.Subscript):  # one of several results
        return False
    calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
    return all(ast.unparse(call.func).startswith(_ALLOCATIONS) for call in calls)


def _sizes(value: ast.expr) -> list[str] | None:
    """The sizes of a tensor that an expression creates."""
    if not isinstance(value, ast.Call) or not value.args:
        return None
    first = value.args[0]
    return [ast.unparse(size) for size in first.elts] if isinstance(first, ast.Tuple) else None


def _top_level(tree: ast.Module) -> dict[str, ast.stmt]:
    """Name → the top-level statement that defines it."""
    defined: dict[str, ast.stmt] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                defined.update(dict.fromkeys(_names(target), statement))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            for alias in statement.names:
                defined[(alias.asname or alias.name).split(".")[0]] = statement
    return defined


def _is_kernel(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and ast.unparse(statement.value.func).startswith(_KERNEL_MAKERS + ".")
    )


def _add_kernel(
    name: str, defined: dict[str, ast.stmt], lines: Sequence[str], kernels: list[str]
) -> None:
    statement = defined[name]
    text = "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
    if text in kernels:
        return
    for used in _names(statement):  # the candidates of a multi-kernel
        if used != name and used in defined and _is_kernel(defined[used]):
            _add_kernel(used, defined, lines, kernels)
    kernels.append(text)


def _header(tree: ast.Module, lines: Sequence[str], defined: dict[str, ast.stmt]) -> list[str]:
    """Top-level statements besides kernels that define names a launch may use."""
    functions = {
        definition.name
        for definition in tree.body
        if isinstance(definition, (ast.ClassDef, ast.FunctionDef))
    }
    header = []
    for statement in dict.fromkeys(defined.values()):
        names = set(_names(statement))
        if _is_kernel(statement) or names & (functions | {"runner"}):
            continue
        header.append("\n".join(lines[statement.lineno - 1 : statement.end_lineno]))
    return header


def _example_statements(tree: ast.Module) -> list[ast.Assign]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name in _EXAMPLES:
            return list(_assignments(node))
    return []


def _assignments(function: ast.FunctionDef) -> Iterator[ast.Assign]:
    for statement in function.body:
        if isinstance(statement, ast.Assign):
            yield statement
