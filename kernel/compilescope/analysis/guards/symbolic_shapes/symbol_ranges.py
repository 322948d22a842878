"""The final ranges of symbols, and the sizes that use them, from a compilation's guards.

torch logs a symbol when it creates it; later guards narrow its range, and duck sizing gives it to
further sizes. The guards that it prints at the end have both. Nothing guards an unbacked symbol:
the graph asserts its range.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ....report import Compilation, ShapeSymbol
from ..meaning import DUCK_SIZED

_RANGE = re.compile(r"(?:(?P<lower>-?[\d.]+) <= )?(?P<source>.+?)(?: <= (?P<upper>-?[\d.]+))?")
_BOUNDS = re.compile(r"\[(?P<lower>[^\[\],]+), (?P<upper>[^\[\],]+)\]")
_CONSTANT = re.compile(r"-?\d+")
_ASSERTED = re.compile(r"Runtime assertion failed for expression (.+?) on node ")
_RELATION = re.compile(r"(?P<name>u\d+) (?P<sign>[<>]=?) (?P<bound>-?\d+)")
_REVERSED = re.compile(r"(?P<bound>-?\d+) (?P<sign>[<>]=?) (?P<name>u\d+)")
_OPPOSITE = str.maketrans("<>", "><")


def complete_symbols(compilation: Compilation) -> None:
    """Fill the ranges and other sources of symbols; needs the guards and the decisions."""
    if not compilation.symbols:
        return
    by_source = {symbol.source: symbol for symbol in compilation.symbols if symbol.source}
    for guard in compilation.guards:
        # Of thousands of guards hardly any compares.
        match = _RANGE.fullmatch(guard.expression) if " <= " in guard.expression else None
        symbol = by_source.get(match["source"]) if match is not None else None
        if match is not None and symbol is not None:
            symbol.range = _narrowed(symbol.range, match["lower"], match["upper"])
        if guard.why == DUCK_SIZED:
            source, _, first = guard.expression.partition(" == ")
            same = by_source.get(first)
            if same is not None and source not in (same.source, *same.other_sources):
                same.other_sources.append(source)
    by_name = {symbol.name: symbol for symbol in compilation.symbols}
    if len(by_source) < len(by_name):
        _narrow_unbacked(compilation, by_name)
    for decision in compilation.shape_decisions:
        constant = by_name.get(decision.expression) if decision.kind == "specialization" else None
        if constant is not None and _CONSTANT.fullmatch(decision.result):
            constant.range = f"[{decision.result}, {decision.result}]"


def _narrow_unbacked(compilation: Compilation, by_name: Mapping[str, ShapeSymbol]) -> None:
    relations = {
        decision.expression: None
        for decision in compilation.shape_decisions
        if decision.kind == "guard" and decision.result in ("", "True")
    }
    for graph in compilation.graphs.values():
        relations.update(dict.fromkeys(_ASSERTED.findall(graph.text)))
    for relation in relations:
        match = _RELATION.fullmatch(relation)
        reverse = _REVERSED.fullmatch(relation) if match is None else None
        match = match or reverse
        if match is None:
            continue
        symbol = by_name.get(match["name"])
        if symbol is None or symbol.source:
            continue
        sign = match["sign"].translate(_OPPOSITE) if reverse is not None else match["sign"]
        symbol.range = _narrowed_range(symbol.range, sign, int(match["bound"]))


def _narrowed_range(known: str, sign: str, bound: int) -> str:
    """A range of integers that also satisfies a relation: ``<= 4``."""
    bounds = _BOUNDS.fullmatch(known)
    if bounds is None:
        return known
    lower, upper = bounds["lower"], bounds["upper"]
    if sign.startswith(">"):
        least = bound if sign == ">=" else bound + 1
        lower = str(max(least, int(lower))) if _CONSTANT.fullmatch(lower) else str(least)
    else:
        most = bound if sign == "<=" else bound - 1
        upper = str(min(most, int(upper))) if _CONSTANT.fullmatch(upper) else str(most)
    return f"[{lower}, {upper}]"


def _narrowed(created: str, lower: str | None, upper: str | None) -> str:
    """A range with the bounds that a guard has; others are as when the symbol was created."""
    bounds = _BOUNDS.fullmatch(created)
    if bounds is None:
        return created
    return f"[{lower or bounds['lower']}, {upper or bounds['upper']}]"
