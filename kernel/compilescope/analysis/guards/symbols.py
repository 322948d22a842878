"""Reads records of symbols: what is dynamic, and what stopped being dynamic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...capture.records import Record
from ...report import SourceLine
from .compiled_values import Symbol


class Constant(NamedTuple):
    """A size or number that should have been a symbol but became a constant."""

    source: str
    value: str
    reason: str
    """torch's word for it: ``range_refined_to_singleton``."""
    where: SourceLine | None


def read_symbols(records: Sequence[Record], attempt: int) -> dict[str, Symbol]:
    """Source → the symbol that stands for it, in one attempt of a compilation."""
    symbols: dict[str, Symbol] = {}
    for record in _of(records, attempt):
        detail = _detail(record)
        if record.event == "create_symbol" and detail.get("source"):
            symbol = Symbol(str(detail.get("symbol", "")), str(detail.get("val", "")))
            symbols[str(detail["source"])] = symbol
    for constant in read_constants(records, attempt):
        symbols.pop(constant.source, None)
    return symbols


def read_constants(records: Sequence[Record], attempt: int) -> list[Constant]:
    """The values that became constants, each with the reason and the user's line."""
    constants: dict[str, Constant] = {}
    for record in _of(records, attempt):
        if record.event == "symbolic_shape_specialization":
            detail = _detail(record)
            for source in detail.get("sources") or ():
                constants[str(source)] = Constant(
                    str(source),
                    str(detail.get("value", "")),
                    str(detail.get("reason", "")),
                    _line(detail.get("user_stack")),
                )
    return list(constants.values())


def _of(records: Sequence[Record], attempt: int) -> list[Record]:
    return [record for record in records if record.attempt == attempt]


def _detail(record: Record) -> dict[str, Any]:
    detail = record.metadata.get(record.event)
    return detail if isinstance(detail, dict) else {}


def _line(stack: Any) -> SourceLine | None:
    if not isinstance(stack, list) or not stack or not isinstance(stack[-1], dict):
        return None
    frame = stack[-1]
    line = frame.get("line")
    return SourceLine(
        file=str(frame.get("filename", "")),
        line=line if isinstance(line, int) else 0,
        function=str(frame.get("name", "")),
        code=str(frame.get("loc") or ""),
    )
