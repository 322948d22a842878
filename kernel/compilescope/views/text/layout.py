"""Lays out rows as a table of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table whose first row is its head; empty columns are left out."""
    columns = [column for column in zip(*rows, strict=True) if any(column[1:])]
    widths = [max(map(len, column)) for column in columns]
    for row in zip(*columns, strict=True):
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
