"""Errors that a backend other than Inductor raised, as problems.

Relies on ``torch._dynamo.exc.BackendCompilerFailed`` (backend_name, inner_exception).
"""

from __future__ import annotations

import re

from torch._dynamo import exc

from ...report import Problem
from ...report.problem import message_of

_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) argument")
_MAX_CHARACTERS = 300


def explain(error: BaseException) -> Problem | None:
    """The problem of a backend that failed to compile; None for Inductor and for other errors."""
    name = getattr(error, "backend_name", None)
    if not isinstance(error, exc.BackendCompilerFailed) or name in (None, "inductor"):
        return None
    inner = error.inner_exception
    message = _first_line(inner)
    if isinstance(inner, ImportError):
        what = f"The backend {name!r} needs a package that is not installed."
        remedy = "Install the package, or choose another backend."
    elif isinstance(inner, TypeError) and _MISSING.search(message):
        what = f"The backend {name!r} cannot be chosen by its name alone."
        remedy = "It is one of torch's own tools: choose another backend."
    else:
        what = f"The backend {name!r} cannot compile this."
        remedy = (
            "Choose another backend; with backend='aot_eager' Dynamo and AOTAutograd alone run."
        )
    return Problem(
        severity="error",
        what=what,
        why=f"It raised {type(inner).__name__}: {message}",
        remedy=remedy,
        detail=message_of(error),
    )


def _first_line(error: BaseException) -> str:
    lines = [line for line in message_of(error).strip().splitlines() if line.strip(" :")]
    return lines[0].strip()[:_MAX_CHARACTERS] if lines else "(without a message)"
