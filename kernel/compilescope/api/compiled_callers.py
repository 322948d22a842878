"""Refuses calls of the public functions from compiled code.

Dynamo would trace compilescope's own code, which takes minutes. It makes a graph break at a
function that `stop_tracing` marked. The function then runs in eager, and finds that its caller is
compiled.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from ..torch_api.dynamo.untraced import stop_tracing

if TYPE_CHECKING:
    from ..report import CompilescopeError

P = ParamSpec("P")
R = TypeVar("R")

_WHY = "Dynamo would trace compilescope itself"
_REMEDY = "Call it where the compiled function is called, or in torch.compiler.disable(...)"


def not_in_compiled_code(function: Callable[P, R]) -> Callable[P, R]:
    """Makes a call of a function from compiled code an error."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        if sys.modules.get("torch") is not None:
            _refuse_compiled_caller(function.__name__)
        return function(*args, **kwargs)

    stop_tracing(called, _reason(f"compilescope.{function.__name__} is"))
    return called


def _reason(subject: str) -> str:
    return f"{subject} for eager code. {_WHY}. {_REMEDY}."


def _refuse_compiled_caller(name: str) -> None:
    """Raises `CompilescopeError` if the function of this name is called from compiled code."""
    from ..torch_api.dynamo.called_under_dynamo import is_under_dynamo

    if is_under_dynamo():
        import torch

        raise torch.compiler.disable(_error)(name)  # type: ignore[no-untyped-call]


stop_tracing(_refuse_compiled_caller, _reason("compilescope's functions are"))


def _error(name: str) -> CompilescopeError:
    from ..report import CompilescopeError

    return CompilescopeError(
        f"compilescope.{name} was called in a function that torch.compile compiles.",
        f"{_WHY}.",
        f"{_REMEDY}.",
    )
