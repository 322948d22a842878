"""Arguments as typed in a call (``x[:2], scale=3.0``) → their values."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from typing import Any

from ..isolation.global_state import SavedModes, SavedRandomness
from ..report.errors import CompilescopeError

_BIND = "__compilescope_bind__"
_CHANGES = (ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)


def evaluate_arguments(
    text: str, namespace: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Evaluates the arguments of a call.

    It accepts only expressions and assigns nothing, so the namespace does not change. Random
    generators and torch's modes are restored, so ``torch.randn(8, 4)`` does not advance the user's
    generator.

    Parameters
    ----------
    text
        The text between the parentheses of the call.
    namespace
        The values of names.

    Raises
    ------
    CompilescopeError
        The text is not a list of arguments, contains an unknown name, or raises.
    """
    call = _parse(text)
    missing = sorted(_names(call) - set(namespace) - set(vars(builtins)))
    if missing:
        raise CompilescopeError(
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not in the notebook.",
            "The arguments are evaluated with the notebook's names and the subject's own.",
            "Define it in a cell, or write the value out: torch.randn(8, 4).",
        )
    call.func = ast.copy_location(ast.Name(_BIND, ast.Load()), call.func)
    try:
        code = compile(ast.Expression(call), "<what if>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # a keyword twice
        raise _unreadable(text, f"Python says: {_reason(error)}.") from None
    names = {**namespace, _BIND: lambda *args, **kwargs: (args, kwargs)}
    randomness, modes = SavedRandomness(), SavedModes()
    try:
        args, kwargs = eval(code, names)
    except Exception as error:  # noqa: BLE001 - the user's expression may raise anything
        raise CompilescopeError(
            "The arguments could not be evaluated.",
            f"{type(error).__name__}: {error}",
            "Try them in a cell of the notebook.",
        ) from None
    finally:
        modes.restore()
        randomness.restore()
    return args, kwargs


def _parse(text: str) -> ast.Call:
    try:
        call = ast.parse(f"_(\n{text}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _unreadable(text, f"Python says: {_reason(error)}.") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise _unreadable(text, "It is more than the arguments of one call.")
    if call.func.id != "_" or call.func.lineno != 1:
        raise _unreadable(text, "It is more than the arguments of one call.")
    if any(isinstance(node, _CHANGES) for node in ast.walk(call)):
        raise _unreadable(text, "It assigns or awaits something.")
    return call


def _reason(error: Exception) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _unreadable(text: str, why: str) -> CompilescopeError:
    short = text if len(text) <= 60 else f"{text[:59]}…"
    return CompilescopeError(
        f"{short!r} cannot be read as the arguments of a call.",
        why,
        "Write what stands between the parentheses: x[:2], scale=3.0.",
    )


def _names(call: ast.Call) -> set[str]:
    """The free names of an expression."""
    read: set[str] = set()
    bound: set[str] = set()
    for part in [*call.args, *(keyword.value for keyword in call.keywords)]:
        for node in ast.walk(part):
            if isinstance(node, ast.Name):
                (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
            elif isinstance(node, ast.arg):
                bound.add(node.arg)
    return read - bound
