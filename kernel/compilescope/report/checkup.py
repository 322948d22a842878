"""What a checkup found: whether everything that torch.compile builds on is there and works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from .late import LateTable
from .problem import Struct

CheckState = Literal["ok", "warning", "problem", "not needed"]
STATES: tuple[CheckState, ...] = ("problem", "warning", "ok", "not needed")
"""Worst first."""


class Check(Struct):
    """One thing that was looked at."""

    name: str
    state: CheckState
    found: str
    remedy: str = ""
    detail: str = ""
    """Long text, folded by default: a compiler's output."""
    subject: str = ""
    """What it belongs to: ``C++ compiler``, ``Cache folders``."""
    seconds: float = 0.0
    """How long looking took."""


class Checkup(Struct):
    """The checks of a kernel's surroundings, by subject. Displays itself."""

    checks: list[Check] = []
    created: str = ""
    environment: str = ""
    """Where it was made, in one line."""
    seconds: float = 0.0
    waiting: list[str] = []
    """Subjects that are still being looked at."""

    def count(self, state: CheckState) -> int:
        """How many checks came out so."""
        return sum(check.state == state for check in self.checks)

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
        return faces["html"](self)

    def __str__(self) -> str:
        return faces["text"](self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


faces: dict[str, Callable[[Checkup], str]] = LateTable()
"""How a checkup shows itself: "text" and "html". The views, which stand above, put them here."""
