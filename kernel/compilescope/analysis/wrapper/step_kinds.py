"""Classifies a statement of a wrapper by its text."""

from __future__ import annotations

import ast
import re

from ...report import WrapperLanguage
from ...report.compilation.wrapper_steps import StepKind
from .python_syntax import dotted, parse

Kind = StepKind | None
"""None: a declaration, which belongs to the next statement."""

Patterns = list[tuple[StepKind | None, "re.Pattern[str]"]]

_SYMBOL = re.compile(r"(?:s|u|i|f|z|zuf|ps|ks)\d+$")
"""A variable for a size."""
_STREAM = re.compile(r"(?:raw_)?stream\d+(?:_raw)?$")

_CPP: Patterns = [
    (
        "entry",
        re.compile(
            r"py::gil_scoped_release\w* |auto inputs = |auto \w+ = std::move\(inputs\[|"
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_item_\w+\(inputs\["
        ),
    ),
    (
        "load",
        re.compile(
            r"ensure_triton_kernel\w*\(|if \(kernels?\w*\.\w+ == nullptr\)|.*= loadKernel\("
        ),
    ),
    (
        "check",
        re.compile(r"assert_\w+\(|AOTI_TORCH_CHECK\(|check_input|\w+ = copy_if_misaligned\("),
    ),
    (
        "stream",
        re.compile(
            r"AOTI\w*Guard \w+|\w*guard\.set_index\(|\w+Stream_t \w+;|"
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_(?:get_current_\w+_stream|create_\w+_guard)\("
        ),
    ),
    ("free", re.compile(r"\w+\.reset\(\);")),
    ("return", re.compile(r"output_handles\[|return\b|\} // ")),
    (
        "view",
        re.compile(
            r"(?:auto|RAIIAtenTensorHandle|AtenTensorHandle) \w+ = .*reinterpret_tensor\w*\(|"
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_(?:_reinterpret_tensor|assign_tensors_out|"
            r"new_tensor_handle|_alloc_from_pool)\(|(?:auto )?\w+ = std::move\(\w+\);$|"
            r"auto \w+ = \w+;$"
        ),
    ),
    (
        "allocation",
        re.compile(
            r"AOTI_TORCH_ERROR_CODE_CHECK\(aoti_torch_empty_strided\w*\(|"
            r"(?:auto )?\w+ = std::move\(\w+\);\s*// reuse"
        ),
    ),
    (
        None,
        re.compile(
            r"(?:AtenTensorHandle|RAIIAtenTensorHandle|bool|double|float|int\d+_t|auto) \w+;$|"
            r"RAIIAtenTensorHandle (\w+)\(\1_handle\);"
        ),
    ),
    (
        "constant",
        re.compile(
            r"(?:static )?const(?:expr)? |(?:u?int\d+_t|double|float|bool|size_t) \w+ = |"
            r"auto \w+ = \w+\.(?:size|stride)\("
        ),
    ),
    ("call", re.compile(r"AOTI_TORCH_ERROR_CODE_CHECK\((aoti_torch_\w+)\(")),
]


def kind_of(text: str, artifact: WrapperLanguage) -> Kind:
    """The kind of a statement other than a launch; "other" if its text is not recognized.

    Parameters
    ----------
    text
        The statement on one line; of C++ its first line does.
    """
    if artifact == "python":
        return _python_kind(text)
    for kind, pattern in _CPP:
        if pattern.match(text):
            return kind
    return "other"


def _python_kind(text: str) -> StepKind:
    match parse(text):
        case [ast.Delete(), *_]:
            return "free"
        case [ast.Return(), *_]:
            return "return"
        case [ast.Assert() | ast.Raise() | ast.If(test=ast.UnaryOp(op=ast.Not())), *_]:
            return "check"
        case [ast.With(items=[ast.withitem(context_expr=ast.Call(func=func)), *_]), *_]:
            guards = ("._DeviceGuard", ".device", ".stream")
            return "stream" if dotted(func).endswith(guards) else "other"
        case [ast.Expr(value=ast.Call(func=func))]:
            return _called_kind(func)
        case [ast.Assign(targets=[target], value=value), *rest]:
            return _assigned_kind(target, value, is_last=not rest)
    return "other"


def _called_kind(function: ast.expr) -> StepKind:
    name = dotted(function)
    if name == "args.clear":
        return "entry"
    if name.startswith(("assert_", "torch._check")):
        return "check"
    if name.startswith("torch.") and name.endswith(
        (".set_device", ".current_stream", ".synchronize")
    ):
        return "stream"
    return "call" if isinstance(function, ast.Attribute) and function.attr == "item" else "other"


def _assigned_kind(target: ast.expr, value: ast.expr, *, is_last: bool) -> StepKind:
    """The kind of an assignment; a deletion may follow it on the same line."""
    if isinstance(value, ast.Name) and value.id == "args":
        return "entry"
    if not isinstance(target, ast.Name):
        is_item = isinstance(value, ast.Call) and _called_kind(value.func) == "call"
        return "call" if is_item else "other"
    if _STREAM.match(target.id):
        return "stream"
    match value:
        # As in C++, a size that is an argument is no other name of a tensor.
        case ast.Name() if _SYMBOL.match(target.id):
            return "constant"
        case ast.Name() | ast.Subscript(ast.Name(), ast.Constant(int())):
            return "view" if is_last else "allocation"
        case ast.Call(func=func):
            name = dotted(func)
            if name == "copy_if_misaligned":
                return "check"
            if name in ("reinterpret_tensor", "alloc_from_pool", "torch.as_strided"):
                return "view"
            if name.startswith(("empty_strided", "torch.empty")):
                return "allocation"
            if _called_kind(func) == "call":
                return "call"
            if isinstance(func, ast.Attribute) and func.attr in ("size", "stride"):
                return "constant"
        case ast.Constant(None):
            return "constant"
    return "constant" if _SYMBOL.match(target.id) else "other"


def is_library(name: str) -> bool:
    """Whether a launch calls an operator of a library or a shim, not a generated kernel."""
    return name.startswith(("aoti_torch_", "PyObject_")) or "." in name or "::" in name
