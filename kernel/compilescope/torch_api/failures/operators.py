"""Turns exceptions about a single operator into problems.

Relies on the messages of ``torch._inductor.exc.LoweringException`` and of
``torch._dynamo.exc.TorchRuntimeError``.
"""

from __future__ import annotations

import ast
import re

from ...report import Problem
from ...report.problem import first_line_of, message_of
from ..trace.graphs import source_lines
from .places import last_traced, line_of_node, text_after


def unknown_operator(error: BaseException) -> Problem:
    """The problem of an operator that Inductor has no code for."""
    return _at_operator(
        error,
        "Inductor has no code for the operator",
        remedy="Register a lowering or a decomposition, or keep the call out with "
        "torch.compiler.disable.",
    )


def lowering(error: BaseException) -> Problem:
    """The problem of an operator whose lowering failed."""
    # Raised while an operator is lowered to code; most of these operators do have a lowering.
    return _at_operator(
        error,
        "Inductor failed on the operator",
        remedy="Remove the options that the reason names, or keep the call out with "
        "torch.compiler.disable.",
    )


def _at_operator(error: BaseException, what: str, *, remedy: str) -> Problem:
    message = message_of(error)
    target = re.search(r"target: (\S+)", message)
    frames = source_lines(message)
    return Problem(
        severity="error",
        what=f"{what} {target.group(1) if target else ''}".rstrip() + ".",
        why=first_line_of(error),
        remedy=remedy,
        where=frames[-1] if frames else line_of_node(error),
        detail=message,
    )


def fake_tensors(error: BaseException) -> Problem:
    """The problem of an operator that failed on fake tensors."""
    message = message_of(error)
    explained = text_after("Explanation: ", message)
    called = _CALLED.search(explained)
    operator = f"The operator {called[1] or called[2]}" if called else "An operator"
    # The operator's own exception comes last, after Dynamo's arguments.
    why = _raised(explained.rpartition(": got ")[2]) or first_line_of(error)
    remedy = _REGISTER if _is_custom(explained) else _TEST
    return Problem(
        severity="error",
        what=f"{operator} failed on fake tensors while Dynamo was tracing it.",
        why=why,
        remedy=_CREATE if _TWO_DEVICES.search(why) else remedy,
        where=last_traced(error),
        detail=message,
    )


_REGISTER = (
    "If the call works without torch.compile, give the operator a fake implementation "
    "(torch.library.register_fake)."
)
_TEST = (
    "If the call works without torch.compile, as it catches this error, let it test sizes and "
    "types before it calls the operator."
)
_CREATE = (
    "Create every tensor on the arguments' device, for example torch.zeros(3, device=x.device): "
    "without `device`, torch creates it on the CPU."
)
_TWO_DEVICES = re.compile(r"found at least two devices|Unhandled FakeTensor Device Propagation")
_CALLED = re.compile(
    r"call_(?:function|method) (?:<(?:built-in )?(?:function|method) (\w+)[^>]*>|([\w.]+))\("
)
"""The node that failed: ``call_function mylib.double.default(``, ``call_method view(``."""
_EXCEPTION = re.compile(r"(\w+)\((.*)\)", re.DOTALL)


def _raised(exception: str) -> str:
    """An exception's type and message, of its representation: ``ValueError('too long')``."""
    match = _EXCEPTION.fullmatch(exception)
    try:
        message = ast.literal_eval(match[2]) if match else None
    except (ValueError, SyntaxError):
        return exception
    return f"{match[1]}: {message}" if match and isinstance(message, str) else exception


_OPERATOR = re.compile(r"call_function (?!aten\.|prims\.)\w+\.\w+\.\w+\(")


def _is_custom(explained: str) -> bool:
    """Whether a node that failed calls an operator that is not torch's own, by namespace."""
    return _OPERATOR.search(explained) is not None
