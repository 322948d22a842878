"""The result of a checkup: whether everything that torch.compile depends on works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from .problem import Struct
from .provided_functions import ProvidedFunctions

CheckState = Literal["ok", "warning", "problem", "not needed"]
STATES: tuple[CheckState, ...] = ("problem", "warning", "ok", "not needed")
"""Worst first."""


class Check(Struct):
    """The result of one check."""

    name: str
    """Its name, as displayed."""
    state: CheckState
    """``problem``, ``warning``, ``ok``, or ``not needed``."""
    finding: str
    """What was found, in words."""
    remedy: str = ""
    """How to fix it; empty if nothing is wrong."""
    detail: str = ""
    """Long text, folded by default: a compiler's output."""
    subject: str = ""
    """Its subject: ``C++ compiler``, ``Cache folders``."""
    seconds: float = 0.0
    """How long the check took."""


class Checkup(Struct):
    """The checks of a kernel's environment, by subject. Displays itself."""

    checks: list[Check] = []
    """The results, in the order in which they are displayed."""
    created: str = ""
    """When the checkup began, in ISO 8601."""
    environment: str = ""
    """The environment, in one line."""
    seconds: float = 0.0
    """How long it took."""
    waiting: list[str] = []
    """Subjects whose checks are still running."""

    def count(self, state: CheckState) -> int:
        """How many checks have this result."""
        return sum(check.state == state for check in self.checks)

    def summary(self) -> str:
        """How many checks have each result, and what is still checked, in one line."""
        counts = []
        for state in STATES:
            number = self.count(state)
            if number:
                is_plural = number > 1 and state in ("problem", "warning")
                counts.append(f"{number} {state}{'s' if is_plural else ''}")
        if self.waiting:
            counts.append(f"still checking: {', '.join(self.waiting)}")
        return ", ".join(counts)

    def check(self, name: str) -> Check:
        """A check by its name.

        Raises
        ------
        KeyError
            There is none of this name.
        """
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def _repr_html_(self) -> str:
        return checkup_renderers["html"](self)

    def __str__(self) -> str:
        return checkup_renderers["text"](self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


checkup_renderers: dict[str, Callable[[Checkup], str]] = ProvidedFunctions()
"""The functions that display a checkup: "text" and "html". The views, a layer above, register them
here."""
