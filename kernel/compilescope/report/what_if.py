"""The answer to "what if": which compilation would serve a call, or which guard fails."""

from __future__ import annotations

from typing import Any, Literal

from .compilation.guards import Guard
from .problem import Struct

_MAX_CHARACTERS = 90

Verdict = Literal["reuse", "recompile", "limit", "eager", "error", "unknown"]

_WORDS: dict[Verdict, tuple[str, str]] = {
    "reuse": ("Reuses", "All its guards pass: nothing would be compiled."),
    "recompile": ("Recompiles", "No compilation matches; this call would recompile."),
    "limit": (
        "Limit reached",
        "No compilation matches and the recompile limit is reached: this call would run in eager.",
    ),
    "eager": ("Runs in eager", "Nothing would be compiled."),
    "error": ("Raises an error", "No compilation matches, and torch is not allowed to recompile."),
    "unknown": ("Unknown", "Whether torch would compile cannot be predicted."),
}
"""Verdict → its title and its sentence, where a compilation was asked."""


class GuardOutcome(Struct):
    """The result of one compilation's guards."""

    compilation: str
    """torch's compile id."""
    passes: bool
    """Whether every guard holds."""
    guard: Guard | None = None
    """The first that fails."""
    place: int | None = None
    """Its index in the compilation's guards, if it is there."""
    expected: str = ""
    """The value that the guard expects."""
    actual: str = ""
    """The value of this call."""
    message: str = ""
    """torch's own words."""


class WhatIf(Struct):
    """The outcome of a call with other arguments."""

    subject: str
    """The name of what is called."""
    arguments: list[str] = []
    """One line per argument: ``x: float32[4, 8] cpu``."""
    verdict: Verdict = "unknown"
    """reuse, recompile, limit (it would run in eager, as the recompile limit is reached), eager
    (torch does not compile it), error (it would raise one because of torch's stance), unknown."""
    reuses: str = ""
    """The compile id of the compilation that would serve the call."""
    outcomes: list[GuardOutcome] = []
    """In the order in which torch tries them, up to the first that passes."""
    why: str = ""
    """The reason, where it is not a guard."""

    @property
    def title(self) -> str:
        """The verdict in a few words."""
        if self.verdict == "reuse":
            return f"Reuses {self.reuses}"
        if self.verdict == "recompile" and not self.outcomes:
            return "Compiles"
        return _WORDS[self.verdict][0]

    @property
    def text(self) -> str:
        """What the verdict means for the call, in a sentence."""
        if self.verdict == "recompile" and not self.outcomes:
            return "There is no compilation to reuse."
        return _WORDS[self.verdict][1]

    def __str__(self) -> str:
        lines = [f"{self.subject}({', '.join(self.arguments)})", f"  {self.title}. {self.text}"]
        for outcome in self.outcomes:
            if outcome.passes:
                lines.append(f"  {outcome.compilation}: every guard holds")
                continue
            what = outcome.guard.expression if outcome.guard is not None else outcome.message
            what = what if len(what) <= _MAX_CHARACTERS else f"{what[: _MAX_CHARACTERS - 1]}…"
            lines.append(f"  {outcome.compilation}: {what}")
            if outcome.expected or outcome.actual:
                lines.append(f"      expected {outcome.expected}, actual {outcome.actual}")
            origin = outcome.guard.origin if outcome.guard is not None else None
            if origin is not None:
                lines.append(f"      {origin.file}:{origin.line}  {origin.code}".rstrip())
        if self.why:
            lines.append(f"  {self.why}")
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))
