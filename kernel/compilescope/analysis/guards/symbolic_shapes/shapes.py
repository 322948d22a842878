"""Reads symbols, and torch's decisions about them with the reasons, from records.

torch logs symbols, specializations and guards always; the expressions that led to a guard, and the
user's locals, in ``torch.export.draft_export`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ....capture.records import Record
from ....report import Compilation, ShapeDecision, ShapeExpression, ShapeSymbol
from ....torch_api.trace.record_names import CREATE_SYMBOL, DYNAMO_GRAPH
from ...text.stacks import logged_stack

_SYMBOL = re.compile(r"\b[a-z]+\d+\b")
_DRAFT_EXPORT_EVENTS = {
    "guard_added": "guard_added_fast",
    "propagate_real_tensors_provenance": "propagate_real_tensors",
}
"""What ``draft_export`` logs → what torch logs of the same decision always."""
_KINDS: dict[str, Literal["guard", "assumption", "specialization"]] = {
    "guard_added": "guard",
    "guard_added_fast": "guard",
    "propagate_real_tensors_provenance": "assumption",
    "propagate_real_tensors": "assumption",
    "symbolic_shape_specialization": "specialization",
}


def add_shapes(
    compilation: Compilation, records: Sequence[Record], final: Sequence[Record]
) -> None:
    """Complete a compilation with its symbols and what torch decided about them.

    Parameters
    ----------
    compilation
        The symbols are those of the attempt that it shows.
    records
        The compilation's, of all attempts.
    final
        Those that belong to the attempt although they may name another one.
    """
    later = {id(record) for record in final}
    reader = _Reader()
    for record in records:
        if record.attempt == compilation.attempt or id(record) in later:
            reader.read(record)
    compilation.symbols = _without_renamed(reader, compilation)
    compilation.shape_decisions = reader.decisions
    compilation.expressions = reader.expressions


def _without_renamed(reader: _Reader, compilation: Compilation) -> list[ShapeSymbol]:
    """The symbols without the second names that retracing gives to unbacked ones.

    torch renames them to the first ones, without logging it. Where it did, nothing has the name.
    """
    if not reader.retraced:
        return reader.symbols
    texts = [graph.text for graph in compilation.graphs.values()]
    texts += [decision.expression for decision in reader.decisions]
    named = {name for text in texts for name in _SYMBOL.findall(text)}
    return [
        symbol
        for symbol in reader.symbols
        if symbol.name not in reader.retraced or symbol.name in named
    ]


class _Reader:
    """Reads one attempt's records in torch's order."""

    def __init__(self) -> None:
        self.symbols: list[ShapeSymbol] = []
        self.decisions: list[ShapeDecision] = []
        self.expressions: list[ShapeExpression] = []
        self.retraced: set[str] = set()
        """Unbacked symbols that torch created after Dynamo had finished the graph."""
        self._has_graph = False
        self._sources: dict[str, str] = {}
        """Symbol → what it stands for."""
        self._places: dict[int, int] = {}
        """The address of torch's expression → its place. A later one may be at the same address."""
        self._last = ("", "")
        """Event and expression of the last decision."""

    def read(self, record: Record) -> None:
        event, detail = record.event, record.detail
        if event == CREATE_SYMBOL:
            self._add_symbol(detail, _text(detail, "source"), _text(detail, "val"))
        elif event == DYNAMO_GRAPH:
            self._has_graph = True
        elif event == "create_unbacked_symbol":
            self._add_symbol(detail, "", "")
            if self._has_graph:
                self.retraced.add(self.symbols[-1].name)
            self._add_expression(
                detail.get("node_id"),
                ShapeExpression(
                    text=_text(detail, "symbol"), stack=logged_stack(detail.get("user_stack"))
                ),
            )
        elif event == "expression_created":
            self._add_expression(
                detail.get("result_id"),
                ShapeExpression(
                    text=_text(detail, "result"),
                    method=_text(detail, "method"),
                    arguments=[str(argument) for argument in _items(detail.get("arguments"))],
                    operands=self._operands(detail.get("argument_ids")),
                    stack=logged_stack(detail.get("user_stack")),
                ),
            )
        elif event in _KINDS:
            self._decide(event, detail)

    def _add_symbol(self, detail: Mapping[str, Any], source: str, value: str) -> None:
        symbol = ShapeSymbol(
            name=_text(detail, "symbol"),
            source=source,
            value=value,
            range=_text(detail, "vr"),
            stack=logged_stack(detail.get("user_stack")),
        )
        self.symbols.append(symbol)
        if source:
            self._sources[symbol.name] = source

    def _add_expression(self, address: Any, expression: ShapeExpression) -> None:
        if isinstance(address, int):
            self._places[address] = len(self.expressions)
        self.expressions.append(expression)

    def _operands(self, addresses: Any) -> list[int]:
        places = (
            self._places.get(address) for address in _items(addresses) if isinstance(address, int)
        )
        return list(dict.fromkeys(place for place in places if place is not None))

    def _decide(self, event: str, detail: Mapping[str, Any]) -> None:
        is_constant = event == "symbolic_shape_specialization"
        expression = _text(detail, "symbol" if is_constant else "expr")
        previous, self._last = self._last, (event, expression)
        if previous == (_DRAFT_EXPORT_EVENT_OF.get(event), expression):
            return
        if previous == (_DRAFT_EXPORT_EVENTS.get(event), expression):
            self.decisions.pop()
        address = detail.get("expr_node_id")
        self.decisions.append(
            ShapeDecision(
                kind=_KINDS[event],
                expression=expression,
                result=_text(detail, "value" if is_constant else "result"),
                reason=_text(detail, "reason" if is_constant else "prefix"),
                sources=self._sources_of(expression, detail),
                stack=logged_stack(detail.get("user_stack")),
                locals=_locals(detail.get("frame_locals")),
                provenance=self._places.get(address) if isinstance(address, int) else None,
            )
        )

    def _sources_of(self, expression: str, detail: Mapping[str, Any]) -> dict[str, str]:
        logged = detail.get("symbol_to_sources")
        plain_sources = self._sources | (
            {str(symbol): str(source) for symbol, source in logged.items()}
            if isinstance(logged, dict)
            else {}
        )
        sources = [str(source) for source in _items(detail.get("sources"))]
        if sources:
            plain_sources[expression] = ", ".join(sources)
        return {
            name: plain_sources[name]
            for name in _SYMBOL.findall(expression)
            if name in plain_sources
        }


_DRAFT_EXPORT_EVENT_OF = {plain: fuller for fuller, plain in _DRAFT_EXPORT_EVENTS.items()}


def _locals(frame: Any) -> dict[str, str]:
    """Local variables as torch describes them: a text, or the texts of what they contain."""
    values = frame.get("locals") if isinstance(frame, dict) else None
    return {
        str(name): ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in (values.items() if isinstance(values, dict) else ())
        if value is not None
    }


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _text(detail: Mapping[str, Any], name: str) -> str:
    value = detail.get(name)
    return "" if value is None else str(value)
