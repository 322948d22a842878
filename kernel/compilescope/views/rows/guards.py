"""The guards of a compilation, as rows."""

from __future__ import annotations

from ...report import Compilation
from .. import wording
from .table import Column, Table

TABLE = Table(
    "guards",
    (
        Column("graph", "compilation", "The compilation that the guard belongs to", where="panel"),
        Column("expression", "guard"),
        Column("source", "source", "What is guarded", where="panel"),
        Column("type", "type"),
        Column("line", "from", "The source line that caused the guard"),
        Column(
            "cost",
            "cost",
            "Time of one check, measured on a clone of the guards. The bar is its share of all "
            "guards; in a table, relative to the costliest",
            "figure",
            "panel",
        ),
        Column("hits", "passed", "How often the check passed", "figure", "panel"),
        Column("fails", "failed", "How often the check failed", "figure", "panel"),
    ),
)


def rows(compilation: Compilation, most: int) -> list[tuple[str, ...]]:
    """Return the first guards in the order of `TABLE`."""
    return [
        TABLE.row(
            expression=guard.expression,
            type=guard.type,
            line=wording.place(guard.origin),
        )
        for guard in compilation.guards[:most]
    ]
