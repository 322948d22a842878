"""Finds what disables torch.compile, or its backend: a variable, a setting, a stance or a mode.

Relies on ``torch.utils._python_dispatch``: ``_get_current_dispatch_mode_stack``, and of the modes
``is_infra_mode`` and ``ignore_compile_internals``, as read in 2.13.
"""

from __future__ import annotations

from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

from ...report.problem import Problem
from ..process import variables
from . import skipping

_STANCES = ("force_eager", "eager_on_recompile", "eager_then_compile")
"""Stances under which torch does not compile a function at its first call."""
_OTHERS = ("another backend", "aot_eager_then_compile")
"""Stances under which torch compiles a first call with a backend other than the requested one."""
_DEFAULT = 'Run torch.compiler.set_stance("default").'


def turned_off() -> Problem | None:
    """The problem if torch.compile compiles nothing in this thread now; otherwise None.

    Modes are active per thread.
    """
    off = variables.switched_off()
    if off is not None:
        return _problem(variables.OFF.format(off.by), remedy=off.undo)
    if skipping.stance() in _STANCES:
        return _problem(skipping.stance_in_words(), remedy=_DEFAULT)
    for mode in reversed(_get_current_dispatch_mode_stack()):
        # torch's own modes may lack these methods.
        exempt = ("is_infra_mode", "ignore_compile_internals")
        if not any(getattr(mode, name, bool)() for name in exempt):
            return _problem(
                f"{type(mode).__name__} is active: torch.compile compiles nothing under a "
                "TorchDispatchMode.",
                remedy="Inspect the call outside of the mode.",
            )
    return None


def other_backend() -> Problem | None:
    """The problem if torch.compile would use another backend than a variant's; otherwise None."""
    if skipping.stance() not in _OTHERS:
        return None
    return Problem(
        severity="error",
        what=skipping.stance_in_words(),
        why="What it compiles would not be the variant's: nothing was compiled.",
        remedy=_DEFAULT,
    )


def _problem(what: str, *, remedy: str) -> Problem:
    return Problem(
        severity="warning",
        what=what,
        why="The call itself may well be compiled: torch did not try.",
        remedy=remedy,
    )
