"""Rows of two generated files: what does the same thing stands on the same height."""

from __future__ import annotations

from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple

from ..report import Region


class Chunk(NamedTuple):
    """Neighbouring lines of a file; numbers from 1, inclusive."""

    start: int
    end: int
    fold: str = ""
    """The summary under which these lines are folded; empty: they are shown."""

    @property
    def lines(self) -> int:
        """How many lines."""
        return self.end - self.start + 1


class Row(NamedTuple):
    """Lines of both files that belong on one height; None where a file has nothing there."""

    left: Chunk | None
    right: Chunk | None = None
    launch: int | None = None
    """The how-manyth common launch this is, from 0; None for lines between launches."""

    @property
    def height(self) -> int:
        """Lines of the longer side that are shown unfolded."""
        return max(
            (side.lines for side in (self.left, self.right) if side and not side.fold), default=0
        )


def rows(left: list[Region], left_lines: int, right: list[Region], right_lines: int) -> list[Row]:
    """Align two files by the launches that they share.

    Every line of both files is in exactly one row, in the file's order. What stands around the
    wrapper's entry (imports, declarations, the kernels' sources) is folded.

    Parameters
    ----------
    left, right
        The files' regions, by start line.
    left_lines, right_lines
        How many lines the files have; 0 for a file that is not there.
    """
    (left_at, left_last), (right_at, right_last) = (
        _body(left, left_lines),
        _body(right, right_lines),
    )
    made = _beside(_outside(left, 1, left_at - 1), _outside(right, 1, right_at - 1))
    for launch, (one, two) in enumerate(_shared(left, right, left_last, right_last)):
        made += _beside(_plain(left_at, one.start - 1), _plain(right_at, two.start - 1))
        made.append(Row(Chunk(one.start, one.end), Chunk(two.start, two.end), launch))
        left_at, right_at = one.end + 1, two.end + 1
    made += _beside(_plain(left_at, left_last), _plain(right_at, right_last))
    return made + _beside(
        _outside(left, left_last + 1, left_lines, "after"),
        _outside(right, right_last + 1, right_lines, "after"),
    )


def _shared(
    left: list[Region], right: list[Region], left_last: int, right_last: int
) -> list[tuple[Region, Region]]:
    """Return the launches of both files, in an order that both keep."""
    lefts = [one for one in left if one.kind == "launch" and one.end <= left_last]
    rights = [one for one in right if one.kind == "launch" and one.end <= right_last]
    keys = [one.key for one in lefts], [one.key for one in rights]
    blocks = SequenceMatcher(None, *keys, autojunk=False).get_matching_blocks()
    return [(lefts[b.a + step], rights[b.b + step]) for b in blocks for step in range(b.size)]


def _body(regions: list[Region], lines: int) -> tuple[int, int]:
    """Return the first and the last line of the entry that launches kernels, else of the file."""
    entry = next((one for one in regions if one.kind == "entry"), None)
    return (entry.start, entry.end) if entry else (1, lines)


def _outside(regions: list[Region], at: int, last: int, where: str = "before") -> list[Chunk]:
    """Fold the lines around the entry into one, and say what is among them."""
    inside = [one for one in regions if one.kind == "kernel" and at <= one.start <= last]
    kernels = {0: "", 1: ", with 1 kernel"}.get(len(inside), f", with {len(inside)} kernels")
    return [Chunk(at, last, f"{where} the call{kernels}")] if at <= last else []


def _plain(at: int, last: int) -> list[Chunk]:
    return [Chunk(at, last)] if at <= last else []


def _beside(left: list[Chunk], right: list[Chunk]) -> list[Row]:
    return [Row(one, two) for one, two in zip_longest(left, right)]
