"""The final ranges of symbols, and all that they stand for, from a compilation's guards.

torch logs a symbol when it creates it; later guards narrow its range, and duck sizing gives it to
further sizes. The guards that it prints at the end have both.
"""

from __future__ import annotations

import re

from ...report import Compilation
from .meaning import DUCK_SIZED

_RANGE = re.compile(r"(?:(?P<lower>-?[\d.]+) <= )?(?P<source>.+?)(?: <= (?P<upper>-?[\d.]+))?")
_BOUNDS = re.compile(r"\[(?P<lower>[^\[\],]+), (?P<upper>[^\[\],]+)\]")
_CONSTANT = re.compile(r"-?\d+")


def complete_symbols(compilation: Compilation) -> None:
    """Fill the ranges and other sources of symbols; needs the guards and the decisions."""
    by_source = {symbol.source: symbol for symbol in compilation.symbols if symbol.source}
    if not by_source:
        return
    for guard in compilation.guards:
        match = _RANGE.fullmatch(guard.expression)
        symbol = by_source.get(match["source"]) if match is not None else None
        if match is not None and symbol is not None:
            symbol.range = _narrowed(symbol.range, match["lower"], match["upper"])
        if guard.why == DUCK_SIZED:
            source, _, first = guard.expression.partition(" == ")
            same = by_source.get(first)
            if same is not None and source not in (same.source, *same.other_sources):
                same.other_sources.append(source)
    by_name = {symbol.name: symbol for symbol in compilation.symbols}
    for decision in compilation.shape_decisions:
        constant = by_name.get(decision.expression) if decision.kind == "specialization" else None
        if constant is not None and _CONSTANT.fullmatch(decision.result):
            constant.range = f"[{decision.result}, {decision.result}]"


def _narrowed(created: str, lower: str | None, upper: str | None) -> str:
    """A range with the bounds that a guard has; others are as when the symbol was created."""
    bounds = _BOUNDS.fullmatch(created)
    if bounds is None:
        return created
    return f"[{lower or bounds['lower']}, {upper or bounds['upper']}]"
