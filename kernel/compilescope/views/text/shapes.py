"""The symbolic shapes of a compilation, as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...report import (
    SHAPE_DECISIONS,
    Compilation,
    ShapeDecision,
    ShapeExpression,
    ShapeSymbol,
    SourceLine,
)
from .. import wording


def shapes(compilation: Compilation) -> str:
    """Symbols, and what torch decided about them, with the expressions that led there.

    Parameters
    ----------
    compilation
        One with its part ``shapes``.

    Returns
    -------
    str
        Empty if no size is dynamic.

    Examples
    --------
    >>> from compilescope.report import Compilation, ShapeSymbol
    >>> print(shapes(Compilation("0/0", symbols=[ShapeSymbol("s0", "L['x'].size()[0]", "8")])))
    s0 = L['x'].size()[0], compiled with 8
    """
    lines = [_symbol(symbol) for symbol in compilation.symbols]
    for decision in compilation.shape_decisions:
        lines += ["", *_decision(decision, compilation.expressions)]
    return "\n".join(lines).strip("\n")


def _symbol(symbol: ShapeSymbol) -> str:
    names = " = ".join([symbol.name, symbol.source, *symbol.other_sources])
    facts = (
        [names, f"compiled with {symbol.value}"] if symbol.source else [f"{symbol.name}: unbacked"]
    )
    if symbol.range:
        facts.append(f"in {symbol.range}")
    return ", ".join(facts) + _innermost(symbol.stack)


def _decision(decision: ShapeDecision, expressions: Sequence[ShapeExpression]) -> Iterator[str]:
    result = f" = {decision.result}" if decision.result else ""
    # torch's reason for a symbol that became a constant is only the name of a step of its solver.
    is_named = decision.reason and decision.kind != "specialization"
    reason = f" ({decision.reason})" if is_named else ""
    title, _ = SHAPE_DECISIONS[decision.kind]
    yield f"{title}: {decision.expression}{result}{reason}"
    for name, source in decision.sources.items():
        yield f"  {name} = {source}"
    for frame in decision.stack:
        yield f"  at {_frame(frame)}"
    for name, value in decision.locals.items():
        yield f"  local {name}: {value}"
    if decision.provenance is not None:
        yield "  computed from:"
        yield from _tree(decision.provenance, expressions)


def _tree(root: int, expressions: Sequence[ShapeExpression]) -> Iterator[str]:
    """An expression and what it was computed from, each once."""
    seen: set[int] = set()
    open_places = [(root, 2)]
    while open_places:
        place, depth = open_places.pop()
        if place in seen:
            continue
        seen.add(place)
        expression = expressions[place]
        call = f"{expression.method}({', '.join(expression.arguments)})"
        how = call if expression.method else "unbacked"
        yield f"{'  ' * depth}{expression.text}: {how}{_innermost(expression.stack)}"
        open_places += [(operand, depth + 1) for operand in reversed(expression.operands)]


def _innermost(stack: Sequence[SourceLine]) -> str:
    return f"  # {_frame(stack[-1])}" if stack else ""


def _frame(frame: SourceLine) -> str:
    function = f" in {frame.function}" if frame.function else ""
    code = f": {frame.code}" if frame.code else ""
    return f"{wording.place(frame)}{function}{code}"
