"""The symbolic sizes of a compilation, and torch's decisions about them."""

from __future__ import annotations

from typing import Literal

from ..problem import SourceLine, Struct


class ShapeSymbol(Struct):
    """A symbol that stands for a size or a number."""

    name: str
    """``s0``; ``u0`` if it is unbacked: known only when the program runs."""
    source: str = ""
    """What it stands for, as Dynamo writes it: ``L['x'].size()[0]``; empty if it is unbacked."""
    value: str = ""
    """The value that torch compiled with; empty if it is unbacked."""
    range: str = ""
    """With all guards: ``[2, 4096]``, or ``[2, int_oo]`` if nothing bounds it above."""
    stack: list[SourceLine] = []
    """The user's line that needed it. Innermost frame last."""
    other_sources: list[str] = []
    """Further sizes that it stands for: they were equal when torch compiled (duck sizing)."""


class ShapeExpression(Struct):
    """An expression of symbols that torch computed while it traced, or an unbacked symbol."""

    text: str
    """``2*s0 + 1``."""
    method: str = ""
    """What computed it: ``add``; empty for a symbol."""
    arguments: list[str] = []
    """Its arguments as text, in order."""
    operands: list[int] = []
    """Indices in `Compilation.expressions` of the arguments that torch also computed."""
    stack: list[SourceLine] = []
    """Innermost frame last."""


SHAPE_DECISIONS: dict[str, tuple[str, str]] = {
    "guard": ("guard", "Checked at every call"),
    "specialization": ("specialized", "The symbol became a constant"),
    "assumption": (
        "assumed",
        "torch could not decide it: it took the example's value, and asserts it at run time",
    ),
}
"""Kind of a `ShapeDecision` → its title and what it means."""


class ShapeDecision(Struct):
    """An assumption of a compilation about its symbols."""

    kind: Literal["guard", "specialization", "assumption"]
    """guard: checked at every call. specialization: a symbol became a constant. assumption: torch
    could not tell, took the example's answer (``draft_export``), and asserts it at run time."""
    expression: str
    result: str = ""
    """The constant that the symbol became, or the answer that was assumed."""
    reason: str = ""
    """torch's word for it: ``range_refined_to_singleton``, ``eval``, ``runtime_assert``."""
    sources: dict[str, str] = {}
    """Symbol of the expression → what it stands for."""
    stack: list[SourceLine] = []
    """Innermost frame last."""
    locals: dict[str, str] = {}
    """Local variables of the user's line, as torch describes them."""
    provenance: int | None = None
    """Index of its expression in `Compilation.expressions`; the operands show its origin."""
