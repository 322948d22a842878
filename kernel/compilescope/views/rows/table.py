"""A table's columns: the one declaration that text, HTML and the panel render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

ColumnKind = Literal["words", "figure", "drawing"]
"""words: text that may wrap; figure: a number with its unit, on one line and, in the panel, to the
right; drawing: bars, not in a terminal, with a title for screen readers."""


class Column(NamedTuple):
    """What a column is called, and what it means."""

    id: str
    title: str
    """In lower case; the panel's style sheet capitalizes it."""
    note: str = ""
    """What the figures mean, shown on hover."""
    kind: ColumnKind = "words"
    where: Literal["everywhere", "panel", "text"] = "everywhere"
    """text: in a terminal and in a cell."""
    words: Mapping[str, str] = {}
    """Value → the words for it, where the cells have few values."""


class Table(NamedTuple):
    """A table that a terminal, a cell and the panel show."""

    name: str
    columns: tuple[Column, ...]
    """The columns, from left to right."""

    @property
    def shown(self) -> list[Column]:
        """The columns in a terminal and in a cell."""
        return [column for column in self.columns if column.where != "panel"]

    @property
    def in_panel(self) -> list[Column]:
        """The columns in the panel."""
        return [column for column in self.columns if column.where != "text"]

    def words(self, column: str) -> Mapping[str, str]:
        """Return the words for the values of a column."""
        return next(declared.words for declared in self.columns if declared.id == column)

    @property
    def head(self) -> tuple[str, ...]:
        """The titles in a terminal and in a cell."""
        return tuple(column.title for column in self.shown)

    def row(self, **cells: str) -> tuple[str, ...]:
        """Return the cells in the order of the columns.

        Parameters
        ----------
        cells
            The text of every column in `shown`, by id.

        Raises
        ------
        KeyError
            If a column has no cell.
        TypeError
            If a cell has no column.
        """
        row = tuple(cells.pop(column.id) for column in self.shown)
        if cells:
            raise TypeError(f"the table {self.name!r} has no columns {', '.join(cells)}")
        return row
