"""Aligns two generated files by rows: matching launches are in the same row."""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.text.region_anchors import blocks
from ...report import Region

_ALIGNED_KINDS = ("launch", "entry", "return")
"""The kinds of regions that are aligned: not kernels, which are folded."""


class Chunk(NamedTuple):
    """Neighboring lines of a file; numbers from 1, inclusive."""

    start: int
    end: int
    fold: str = ""
    """The summary under which these lines are folded; empty: they are shown."""

    @property
    def lines(self) -> int:
        """How many lines."""
        return self.end - self.start + 1


class Row(NamedTuple):
    """Aligned lines of both files; None if a file has no lines there."""

    left: Chunk | None
    right: Chunk | None = None
    launch: int | None = None
    """The index of the common launch, from 0; None for lines between launches."""

    @property
    def height(self) -> int:
        """Lines of the longer side that are shown unfolded."""
        shown = (side.lines for side in (self.left, self.right) if side and not side.fold)
        return max(shown, default=0)


def rows(left: list[Region], left_lines: int, right: list[Region], right_lines: int) -> list[Row]:
    """Align two files by the launches that they share.

    Every line of both files is in exactly one row, in the file's order. The code around the
    wrapper's entry (imports, declarations, the kernels' sources) is folded.

    Parameters
    ----------
    left, right
        The files' regions, by start line.
    left_lines, right_lines
        How many lines the files have; 0 for a missing file.
    """
    aligned: list[Row] = []
    launches = 0
    for block in blocks(_facing(left), _facing(right), left_lines, right_lines):
        launch = None
        if block.key is not None and block.key.startswith("launch"):
            launch, launches = launches, launches + 1
        lefts = _cut(left, left_lines, block.left_start, block.left_end)
        rights = _cut(right, right_lines, block.right_start, block.right_end)
        aligned += [Row(*both, launch) for both in zip(lefts, rights, strict=True) if any(both)]
    return aligned


def _facing(regions: list[Region]) -> list[Region]:
    return [region for region in regions if region.kind in _ALIGNED_KINDS]


def _cut(regions: list[Region], lines: int, start: int, end: int) -> list[Chunk | None]:
    """Split a range of lines into the parts before, in and after the wrapper's entry."""
    entry = next((region for region in regions if region.kind == "entry"), None)
    first, last = (entry.start, entry.end) if entry else (1, lines)
    inside = Chunk(max(start, first), min(end, last))
    return [
        _folded(regions, start, min(end, first - 1), "before"),
        inside if inside.lines > 0 else None,
        _folded(regions, max(start, last + 1), end, "after"),
    ]


def _folded(regions: list[Region], start: int, end: int, where: str) -> Chunk | None:
    if start > end:
        return None
    kernels = sum(region.kind == "kernel" and start <= region.start <= end for region in regions)
    kernel_count = {0: "", 1: ", with 1 kernel"}.get(kernels, f", with {kernels} kernels")
    return Chunk(start, end, f"{where} the call{kernel_count}")
