"""Reads a function of the Python wrapper, statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ..text.brackets import depth
from ..text.wrapper_marks import Comments, Mark, launch_mark, read_comment
from .python_syntax import dotted, first_call, parse, root_of
from .size_checks import size_checks

_NOT_LAUNCHES = frozenset(
    (
        "args.clear",
        "get_raw_stream",
        "run_intermediate_hooks",
        "start_graph",
        "end_graph",
        "torch.cuda.set_device",
        "torch.xpu.set_device",
        "torch.cuda._DeviceGuard",
        "torch._C._cuda_getCurrentRawStream",
    )
)
_GUARDS = ("assert_size_stride", "assert_tensor_metadata(", "assert_alignment(", "assert ")
_ALLOCATES = ("empty_strided", "torch.empty", "alloc_from_pool", "reinterpret_tensor")
"""What the functions begin with whose result is a buffer or a view of one."""
_LIBRARIES = (
    "extern_kernels.",
    "torch.ops.",
    "aten.",
    "prims.",
    "inductor_ops.",
    "_quantized.",
    "torch._C._",
)


class Body:
    """Reads one function.

    Parameters
    ----------
    lines
        The whole file's.
    function
        The function's name.
    kernels, functions
        The names of the kernels and of the wrapper's other functions above it.
    """

    def __init__(
        self,
        lines: Sequence[str],
        function: str,
        kernels: Collection[str],
        functions: Collection[str],
    ) -> None:
        self.lines = lines
        self.function = function
        whole = function == "call" or function.startswith("partition_")
        self.scope = "" if whole else function
        self.kernels = kernels
        self.functions = functions
        self.calls: list[tuple[int, str]] = []
        """The wrapper's functions that this one calls, with the line."""

    def run(self, number: int, end: int) -> list[Mark]:
        """Find the regions in lines [number, end)."""
        marks: list[Mark] = []
        comments: Comments | None = None
        while number < end:
            stripped = self.lines[number].strip()
            start = number
            if stripped.startswith("#"):
                comments = read_comment(comments, stripped[1:], number)
                number += 1
                continue
            level = depth(stripped)
            while level > 0 and number + 1 < end:
                number += 1
                level += depth(self.lines[number])
            number += 1
            if not stripped:
                continue
            text = " ".join(line.strip() for line in self.lines[start:number])
            if stripped.startswith(_GUARDS):
                marks += self._guards(text, start + 1, number)
                continue
            nodes = parse(text)
            mark = self._statement(nodes, start, number, comments)
            if mark:
                marks.append(mark)
            if mark.kind == "launch" if mark else not _prepares(nodes):
                comments = None
        return marks

    def _guards(self, text: str, start: int, end: int) -> list[Mark]:
        """Mark each tensor that a statement checks: the C++ wrapper has a statement for each."""
        names = [size_check.tensor for size_check in size_checks(text)]
        if not names:
            names = [name for node in parse(text) for name in _checked(node)]
        return [Mark("guard", start, end, label=name) for name in names]

    def _statement(
        self, nodes: Sequence[ast.stmt], start: int, end: int, comments: Comments | None
    ) -> Mark | None:
        """Mark the statement of lines [start, end), counted from 0."""
        first = start + 1
        match nodes:
            case [ast.Return(), *_]:
                return Mark("return", first, end, label=self.function)
            case [ast.Delete(targets=[target, *_]), *_]:
                return Mark("free", first, end, label=root_of(target))
            case [ast.Assign(targets=[ast.Name(name)], value=value), *rest] if any(
                isinstance(node, ast.Delete) for node in rest
            ) or _allocates(value):
                return Mark("alloc", first, end, label=name)
            case [(ast.Expr(value=value) | ast.Assign(value=value)), *_]:
                call = first_call(value)
                return self._call(call, start, end, comments) if call is not None else None
        return None

    def _call(self, call: ast.Call, start: int, end: int, comments: Comments | None) -> Mark | None:
        """Mark a launch, or note a call of another function of the wrapper."""
        index: str | None = None
        match call.func:
            case ast.Subscript(value=value, slice=item):
                target, index = dotted(value), ast.unparse(item)
            case function:
                target = dotted(function)
        head, _, attribute = target.partition(".")
        if target in self.functions or target.startswith(("self.partitions", "partition_")):
            self.calls.append((start + 1, target if index is None else f"partition_{index}"))
            return None
        is_kernel = head in self.kernels and attribute in ("", "run")
        has_handle = comments is not None and comments.handle is not None
        if (
            target in _NOT_LAUNCHES
            or _clears(target)
            or not (is_kernel or has_handle or target.startswith(_LIBRARIES))
        ):
            return None
        name = head if is_kernel else target
        if comments and comments.handle and not is_kernel:
            name = comments.handle[0]
        return launch_mark(name, start, end, comments, self.scope)


def _allocates(value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = dotted(value.func)
    return name.startswith(_ALLOCATES) or name == "torch.as_strided"


def _prepares(nodes: Sequence[ast.stmt]) -> bool:
    """Whether a statement stands between a launch's comments and the launch."""
    match nodes:
        case [ast.With(), *_]:
            return True
        case [
            (ast.Assign(value=ast.Call(func=function)) | ast.Expr(value=ast.Call(func=function))),
            *_,
        ]:
            name = dotted(function)
            return name == "get_raw_stream" or name.endswith(".set_device") or _clears(name)
    return False


def _clears(function: str) -> bool:
    """Whether a call sets the workspace of the next kernel to zero, beneath its comments."""
    return function.startswith("workspace_") and function.endswith(".zero_")


def _checked(node: ast.stmt) -> list[str]:
    """What a check is of: the variable that its condition or its first argument begins with."""
    match node:
        case ast.Expr(value=ast.Call(args=[argument, *_])):
            return [root_of(argument)]
        case ast.Assert(test=test):
            return [next((part.id for part in ast.walk(test) if isinstance(part, ast.Name)), "")]
    return []
