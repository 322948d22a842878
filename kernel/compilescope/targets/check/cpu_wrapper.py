"""Rewrites a Python wrapper for a GPU to run on the CPU, with callbacks for each step.

Its buffers are allocated on the CPU. Kernel launches, calls of library operators and new names for
buffers go through a `Host`, which receives the names of the variables.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import torch

from ...torch_api.targets import wrapper_names

_LIBRARIES = {"torch", "aten", "inductor_ops", "extern_kernels", "_quantized"}
_HOST = "_compilescope_host"


class Host(Protocol):
    """Carries out the steps of a wrapper."""

    def launch(self, kernel: str, names: Sequence[str], args: Sequence[Any]) -> None:
        """A kernel's launch; the names are those of the arguments, empty for other expressions."""

    def library_result(self, name: str, names: Sequence[str], make: Callable[[], Any]) -> Any:
        """A library call whose result becomes a variable; the names are those that it reads."""

    def called(self, names: Sequence[str], call: Callable[[], Any]) -> None:
        """A library call that writes to variables."""

    def renamed(self, name: str, old: str, value: Any) -> Any:
        """A variable that takes over another one's memory."""

    def allocated(self, size: Any, stride: Any, dtype: torch.dtype) -> torch.Tensor:
        """New memory."""


class Definition(NamedTuple):
    """A kernel as the wrapper defines it."""

    name: str
    source: str


class Wrapper:
    """A parsed wrapper."""

    def __init__(self, text: str) -> None:
        tree = ast.parse(text)
        self.kernels: dict[str, Definition] = {}
        """Triton kernels, by the variable that holds each."""
        self.others: dict[str, str] = {}
        """Kernels of another kind → what made them."""
        statements: list[ast.stmt] = []
        for statement in tree.body:
            definition = _made_by_async_compile(statement)
            if definition is not None:
                self._define(*definition)
            elif not _is_dropped(statement):
                statements.append(statement)
        tree.body = statements
        launched = set(self.kernels) | set(self.others)
        self._tree = ast.fix_missing_locations(_Rewriter(launched).visit(tree))

    def call(self, host: Host, args: list[Any]) -> Any:
        """Runs the wrapper."""
        names = wrapper_names.names() | {
            _HOST: host,
            "torch": torch,
            "math": math,
            "inf": math.inf,
            "nan": math.nan,
            "device": lambda *_, **__: torch.device("cpu"),
            "get_raw_stream": lambda _: 0,
            "copy_if_misaligned": lambda tensor: tensor,
            "assert_alignment": lambda *_: None,
            "empty_strided_cuda": host.allocated,
            "empty_strided_cpu": host.allocated,
            "__name__": "compilescope",
        }
        exec(compile(self._tree, "<wrapper>", "exec"), names)
        return names["call"](args)

    def _define(self, name: str, kind: str, call: ast.Call) -> None:
        texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
        if kind == "triton" and len(texts) >= 2:
            self.kernels[name] = Definition(str(texts[0]), str(texts[1]))
        else:
            self.others[name] = kind


def _made_by_async_compile(statement: ast.stmt) -> tuple[str, str, ast.Call] | None:
    """A kernel's variable, which function of ``async_compile`` makes it, and the call."""
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        function, target = statement.value.func, statement.targets[0]
        if (
            isinstance(function, ast.Attribute)
            and _root(function) == "async_compile"
            and isinstance(target, ast.Name)
        ):
            return target.id, function.attr, statement.value
    return None


def _is_dropped(statement: ast.stmt) -> bool:
    """Whether a statement is left out: imports, bare expressions, what the host replaces."""
    if isinstance(statement, (ast.Import, ast.ImportFrom, ast.If, ast.Delete)):
        return True
    if isinstance(statement, ast.Expr):
        return True
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
        names = wrapper_names.names()
        return isinstance(target, ast.Name) and (
            target.id in names
            or target.id == "async_compile"
            or target.id.startswith(("empty_strided_", "assert_"))
        )
    return isinstance(statement, ast.FunctionDef) and statement.name in (
        "get_args",
        "benchmark_compiled_module",
    )


class _Rewriter(ast.NodeTransformer):
    def __init__(self, kernels: set[str]) -> None:
        self._kernels = kernels

    def visit_With(self, node: ast.With) -> Any:
        """A device's block is its body."""
        self.generic_visit(node)
        if all(_dotted(item.context_expr).startswith("torch.cuda.") for item in node.items):
            return node.body
        return node

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value
        if not isinstance(call, ast.Call):
            return node
        dotted = _dotted(call.func)
        if dotted in ("torch.cuda.set_device", "torch.cuda.synchronize"):
            return ast.Pass()
        root, _, method = dotted.partition(".")
        if method == "run" and root in self._kernels:
            names = ast.List([ast.Constant(_variable(arg)) for arg in call.args], ast.Load())
            args = ast.List(list(call.args), ast.Load())
            return ast.Expr(_host("launch", ast.Constant(root), names, args))
        if root in _LIBRARIES:
            return ast.Expr(_host("called", _variables(call), _later(call)))
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        target, value = node.targets[0], node.value
        if len(node.targets) != 1 or not isinstance(target, ast.Name):
            return node
        name = ast.Constant(target.id)
        if isinstance(value, ast.Name) or (
            isinstance(value, ast.Call) and _dotted(value.func) == "reinterpret_tensor"
        ):
            old = ast.Constant(_variable(value))
            node.value = _host("renamed", name, old, value)
        elif isinstance(value, ast.Subscript) or (
            isinstance(value, ast.Call) and _root(value.func) in _LIBRARIES
        ):
            node.value = _host("library_result", name, _variables(value), _later(value))
        return node


def _host(method: str, *args: ast.expr) -> ast.Call:
    function = ast.Attribute(ast.Name(_HOST, ast.Load()), method, ast.Load())
    return ast.Call(function, list(args), [])


def _later(value: ast.expr) -> ast.Lambda:
    nothing = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(nothing, value)


def _variable(value: ast.expr) -> str:
    """The variable that an argument is, or is a view of."""
    if isinstance(value, ast.Name):
        return value.id
    if (
        isinstance(value, ast.Call)
        and _dotted(value.func) in ("reinterpret_tensor", "alloc_from_pool")
        and value.args
    ):
        return _variable(value.args[0])
    return ""


def _variables(value: ast.expr) -> ast.List:
    """All variables that a call or an item is given, in the order in which they stand there."""
    arguments = [value.value] if isinstance(value, ast.Subscript) else []
    if isinstance(value, ast.Call):
        arguments = [*value.args, *[keyword.value for keyword in value.keywords]]
    flat = [
        item
        for node in arguments
        for item in (node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node])
    ]
    return ast.List([ast.Constant(name) for node in flat if (name := _variable(node))], ast.Load())


def _dotted(value: ast.expr) -> str:
    if isinstance(value, ast.Call):
        return _dotted(value.func)
    if isinstance(value, ast.Attribute):
        return f"{_dotted(value.value)}.{value.attr}"
    return value.id if isinstance(value, ast.Name) else ""


def _root(value: ast.expr) -> str:
    return _dotted(value).partition(".")[0]
