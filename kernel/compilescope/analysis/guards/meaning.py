"""The language that evaluates a guard, and why torch added it."""

from __future__ import annotations

import re
from typing import Literal

_PYTHON_GUARDS = {"LAMBDA_GUARD"}
"""The only leaf guard that torch's C++ hands to a Python function: shape relations that were not
compiled to C++, saved-tensor hooks, the metadata of tensor subclasses, aliases, counters."""

_PYTHON_ACCESSORS = ("PythonLambdaGuardAccessor", "CallFunctionNoArgsGuardAccessor")
"""Accessors that call a Python function to fetch the value."""

_FLOAT = re.compile(r" == -?(?:\d+\.\d*|\d*\.\d+|\d+)(?:e[+-]?\d+)?$")
_INTEGER = re.compile(r" == -?\d+$")
_ZERO_ONE = "0/1 specialization"
_DUCK = "duck sizing"
DUCK_SIZED = (
    "Two sizes were equal when the code was compiled, so torch gave them one symbol. "
    "torch.fx.experimental._config.use_duck_shape = False avoids that."
)
"""Why there is a guard on two sizes that duck sizing gave one symbol."""


def is_python_access(accessor: str) -> bool:
    """Whether an accessor calls a Python function to fetch a value."""
    return accessor.startswith(_PYTHON_ACCESSORS)


def language_of(kind: str, *, python_access: bool) -> Literal["cpp", "python"]:
    """Whether a Python function evaluates a guard, or fetches the value it checks.

    ``SYMBOLIC_SHAPE_GUARD`` is shape relations compiled to C++
    (``torch._dynamo.config.enable_cpp_symbolic_shape_guards``). An attribute that is the user's
    property runs Python too, which the tree does not show.
    """
    return "python" if python_access or kind in _PYTHON_GUARDS else "cpp"


def why_of(kind: str, expression: str, note: str, *, python_access: bool) -> str:
    """Why torch added this guard, if more is known than its type says (`GUARD_TYPES`).

    Parameters
    ----------
    note
        torch's note after the guard's line.
    """
    explanation = _torchs(note)
    if explanation:
        return explanation
    if kind == "EQUALS_MATCH":
        return _constant(expression)
    if kind in ("LAMBDA_GUARD", "SYMBOLIC_SHAPE_GUARD"):
        return _relation(expression, note)
    if python_access:
        return "torch gets this value by calling a Python function."
    return ""


def _torchs(note: str) -> str:
    """Torch's own hint, if it says more than the type."""
    if note.startswith("HINT: ") and not note.startswith("HINT: type "):
        return note.removeprefix("HINT: ")
    if _ZERO_ONE in note:
        return (
            "Sizes 0 and 1 are specialized, so a dynamic size is at least 2. "
            "torch._dynamo.decorators.mark_unbacked(tensor, dim) avoids that."
        )
    if _DUCK in note:
        return DUCK_SIZED
    return ""


def _constant(expression: str) -> str:
    if _INTEGER.search(expression):
        return (
            "This integer is a constant in the graph. Passed as an argument it becomes dynamic "
            "after it has changed once; as a tensor it is an input."
        )
    if _FLOAT.search(expression):
        return (
            "This float is a constant in the graph. Passed as an argument it becomes an input "
            "after it has changed once, unless torch._dynamo.config.specialize_float is set; "
            "as a tensor it is an input from the start."
        )
    return "This value is a constant in the graph, because tracing depended on it."


def _relation(expression: str, note: str) -> str:
    if "saved_tensors_hooks" in expression:
        return "Hooks on saved tensors are compiled into the backward. torch always checks them."
    if " is " in expression:
        return (
            "These were the same object when the code was compiled: a module used in two "
            "places, or a tied weight."
        )
    if ".size()" in expression or ".stride()" in expression or ".storage_offset()" in expression:
        return "The code is valid only for dynamic sizes that satisfy this relation."
    return ""
