"""Reads records of symbols: dynamic sizes, and sizes that became static."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ....capture.records import Record
from ....report import SourceLine
from ....torch_api.trace.record_names import CREATE_SYMBOL
from ...text.stacks import logged_stack
from ..compiled_values import Symbol

_INPUT = re.compile(
    r"L\['\w+'\](?:\[[^\[\]]+\])*"
    r"|(?!.*(?:_parameters|_buffers)\b).*\.(?:size|stride|storage_offset)\(\)(?:\[\d+\])?"
)
"""An argument or an item of one, or a size of a tensor, but not of a parameter or buffer."""


class Constant(NamedTuple):
    """A size or number that should have been a symbol but became a constant."""

    source: str
    value: str
    where: SourceLine | None

    @property
    def is_input(self) -> bool:
        """Whether it is a size or an argument; attributes of modules are not."""
        return _INPUT.fullmatch(self.source) is not None


def read_symbols(records: Sequence[Record], attempt: int) -> dict[str, Symbol]:
    """Source → the symbol that stands for it, in one attempt of a compilation."""
    symbols: dict[str, Symbol] = {}
    for record in _of_attempt(records, attempt):
        detail = record.detail
        if record.event == CREATE_SYMBOL and detail.get("source"):
            symbol = Symbol(str(detail.get("symbol", "")), str(detail.get("val", "")))
            symbols[str(detail["source"])] = symbol
    for constant in read_constants(records, attempt):
        symbols.pop(constant.source, None)
    return symbols


def read_constants(records: Sequence[Record], attempt: int) -> list[Constant]:
    """The values that became constants, each with the user's line."""
    constants: dict[str, Constant] = {}
    for record in _of_attempt(records, attempt):
        if record.event == "symbolic_shape_specialization":
            detail = record.detail
            stack = logged_stack(detail.get("user_stack"))
            for source in detail.get("sources") or ():
                constants[str(source)] = Constant(
                    str(source),
                    _number(str(detail.get("value", ""))),
                    stack[-1] if stack else None,
                )
    return list(constants.values())


def _number(value: str) -> str:
    """Shorten a number of sympy's: ``1.00000000000000e-5`` is ``1e-05``."""
    try:
        return repr(float(value)) if "." in value else value
    except ValueError:
        return value


def _of_attempt(records: Sequence[Record], attempt: int) -> list[Record]:
    return [record for record in records if record.attempt == attempt]
