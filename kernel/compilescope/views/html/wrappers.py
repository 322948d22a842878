"""The Python and the C++ wrapper side by side, aligned where they launch the same kernel."""

from __future__ import annotations

from typing import NamedTuple

from ..rows.side_by_side import Chunk
from ..rows.side_by_side import rows as aligned_rows
from ..wrapper_pairs import Pair, Side
from . import syntax


class Column(NamedTuple):
    """A wrapper and its lines."""

    side: Side
    lines: list[str]

    @property
    def title(self) -> str:
        """The heading of the column."""
        return self.side.title

    def content(self, chunk: Chunk) -> list[str]:
        """Return the lines of a chunk; if they are shown, without blank ones at the end."""
        lines = self.lines[chunk.start - 1 : chunk.end]
        while lines and not chunk.fold and not lines[-1].strip():
            lines.pop()
        return lines


class Row(NamedTuple):
    """Lines of each column that are aligned."""

    cells: list[tuple[Column, Chunk | None]]
    launch: int | None
    """As `rows.side_by_side.Row.launch`."""


class Shown(NamedTuple):
    """A pair of wrappers as a table."""

    columns: list[Column]
    rows: list[Row]
    left_out: int
    """Lines below the last row."""


def shown(pair: Pair, most: int) -> Shown:
    """Return the rows of a pair of wrappers.

    Parameters
    ----------
    pair
        One wrapper or two.
    most
        The most lines shown, not counting folded ones; later rows are left out.
    """
    columns = [Column(side, syntax.split(side.text)) for side in (pair.left, pair.right) if side]
    left, right = columns[0], columns[1] if len(columns) == 2 else None
    aligned = aligned_rows(
        left.side.regions,
        len(left.lines),
        right.side.regions if right else [],
        len(right.lines) if right else 0,
    )
    rows: list[Row] = []
    lines = 0
    for number, row in enumerate(aligned):
        lines += row.height
        if lines > most and row.height:
            return Shown(columns, rows, sum(rest.height for rest in aligned[number:]))
        chunks = (row.left, row.right)[: len(columns)]
        rows.append(Row(list(zip(columns, chunks, strict=True)), row.launch))
    return Shown(columns, rows, 0)


def launch_color(launch: int) -> str:
    """Return the CSS of a launch's cells: one hue for the launch in both columns.

    From teal to violet: red and yellow would read as "wrong". The tint is an image over the
    background color.
    """
    hue = f"{170 + launch * 55 % 150},65%,50%"
    wash = f"linear-gradient(hsla({hue},.13),hsla({hue},.13))"
    return f"border-left-color:hsla({hue},.95);background-image:{wash};"
