"""Aligns the lines of two texts for a side-by-side view."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ...report import Region

_ORDER = (("launch",), ("entry", "return"), ("kernel",))
"""What may face each other, the most important first: on a CPU the kernels come before the calls in
Python and after them in C++, so not all can."""


class Block(NamedTuple):
    """A run of lines on the left that faces a run on the right.

    Lines count from 1 and ends are inclusive, so a run with no line has its end before its start:
    ``(5, 4)``. ``key`` is the regions' where both runs are regions of that key, else None.
    """

    left_start: int
    left_end: int
    right_start: int
    right_end: int
    key: str | None = None


class _Anchor(NamedTuple):
    left: tuple[int, int]
    right: tuple[int, int]
    key: str


def align(
    left: Sequence[Region], right: Sequence[Region], left_lines: int, right_lines: int
) -> list[Block]:
    """Cut two texts into blocks that face each other.

    Parameters
    ----------
    left, right
        The regions of both texts.
    left_lines, right_lines
        How many lines the texts have.

    Returns
    -------
    list of Block
        Every line of either text stands in exactly one block, in order. Launches with equal keys
        face each other as long as both texts have them in the same order; then entries, returns and
        kernels that fit in between. What lies between two anchors is a block without a key.
    """
    anchors: list[_Anchor] = []
    for kinds in _ORDER:
        anchors = _merge(anchors, _candidates(left, right, kinds))
    blocks: list[Block] = []
    at_left = at_right = 1
    for anchor in anchors:
        (start, end), (other, other_end) = anchor.left, anchor.right
        if start > at_left or other > at_right:
            blocks.append(Block(at_left, start - 1, at_right, other - 1))
        blocks.append(Block(start, end, other, other_end, anchor.key))
        at_left, at_right = end + 1, other_end + 1
    if at_left <= left_lines or at_right <= right_lines:
        blocks.append(Block(at_left, left_lines, at_right, right_lines))
    return blocks


def _candidates(
    left: Sequence[Region], right: Sequence[Region], kinds: Sequence[str]
) -> list[_Anchor]:
    partners = {region.key: region for region in reversed(right) if region.kind in kinds}
    anchors = []
    for region in left:
        partner = partners.get(region.key) if region.kind in kinds and region.key else None
        if partner is not None and partner.kind == region.kind:
            del partners[region.key]
            anchors.append(_Anchor(_lines(region), _lines(partner), region.key))
    return anchors


def _lines(region: Region) -> tuple[int, int]:
    """An entry is a whole function; only its first line can face the other's."""
    return region.start, region.start if region.kind == "entry" else region.end


def _ordered(anchors: list[_Anchor]) -> list[_Anchor]:
    """The longest run of anchors that go down on both sides and do not overlap."""
    anchors = sorted(anchors, key=lambda anchor: anchor.left)
    disjoint: list[_Anchor] = []
    for anchor in anchors:
        if not disjoint or anchor.left[0] > disjoint[-1].left[1]:
            disjoint.append(anchor)
    tails: list[int] = []
    """The lowest right end of a run, by its length."""
    holders: list[int] = []
    before: list[int | None] = []
    for index, anchor in enumerate(disjoint):
        place = bisect_left(tails, anchor.right[0])
        before.append(holders[place - 1] if place else None)
        if place == len(tails):
            tails.append(anchor.right[1])
            holders.append(index)
        elif anchor.right[1] < tails[place]:
            tails[place] = anchor.right[1]
            holders[place] = index
    chain: list[_Anchor] = []
    step = holders[-1] if holders else None
    while step is not None:
        chain.append(disjoint[step])
        step = before[step]
    return chain[::-1]


def _merge(anchors: list[_Anchor], more: list[_Anchor]) -> list[_Anchor]:
    """Add, of those that fit between the anchors there are, as many as can be."""
    starts = [anchor.left[0] for anchor in anchors]
    fitting = []
    for anchor in more:
        place = bisect_left(starts, anchor.left[0])
        above = anchors[place - 1] if place else None
        below = anchors[place] if place < len(anchors) else None
        clear_above = above is None or (
            above.left[1] < anchor.left[0] and above.right[1] < anchor.right[0]
        )
        clear_below = below is None or (
            anchor.left[1] < below.left[0] and anchor.right[1] < below.right[0]
        )
        if clear_above and clear_below:
            fitting.append(anchor)
    return sorted([*anchors, *_ordered(fitting)], key=lambda anchor: anchor.left)
