"""Aligns two texts: regions with equal keys are shown at the same height, in order.

What is equal follows from the keys, which `analysis.wrapper.launch_pairs` makes agree. This is no
diff: the lines of a Python and a C++ wrapper have nothing in common. The panel aligns any two texts
of a report, also without a kernel, so it does the same in ``src/code/regions/anchors.ts``;
``tests/data/anchors.json`` tests both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...report import ANCHOR_WEIGHTS, Region

_MAX_PAIRS_OF_A_KEY = 64
"""If a key occurs more often in both texts, its first region is paired with the first, the second
with the second, and so on: otherwise there would be too many candidates."""


class Anchor(NamedTuple):
    """Two regions whose first lines stand at the same height."""

    left: Region
    right: Region


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


def match_regions(left: Sequence[Region], right: Sequence[Region]) -> list[Anchor]:
    """Match the regions of two texts, keeping the order of both.

    Of all pairs with equal kind and key, it takes the set with the largest sum of `ANCHOR_WEIGHTS`
    in which lines rise strictly on both sides: a weighted longest increasing subsequence, in
    O(n log n).
    """
    pairs = list(_candidates(left, right))
    # Falling on the right where the left line is the same: two pairs of one line never chain.
    pairs.sort(key=lambda pair: (pair.left.start, -pair.right.start))
    return _heaviest_chain(pairs)


def blocks(
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
        Every line of either text stands in exactly one block, in order. What lies between two
        anchors is a block without a key.
    """
    anchors = match_regions(left, right)
    result: list[Block] = []
    at_left = at_right = 1
    for number, anchor in enumerate(anchors):
        start, other = anchor.left.start, anchor.right.start
        if start > at_left or other > at_right:
            result.append(Block(at_left, start - 1, at_right, other - 1))
        after = anchors[number + 1] if number + 1 < len(anchors) else None
        end = _end(anchor.left, after.left if after is not None else None)
        other_end = _end(anchor.right, after.right if after is not None else None)
        result.append(Block(start, end, other, other_end, anchor.left.key))
        at_left, at_right = end + 1, other_end + 1
    if at_left <= left_lines or at_right <= right_lines:
        result.append(Block(at_left, left_lines, at_right, right_lines))
    return result


def _end(region: Region, after: Region | None) -> int:
    """The last line of a region's block. An entry is a whole function: its first line faces."""
    end = region.start if region.kind == "entry" else region.end
    return end if after is None else min(end, after.start - 1)


def _candidates(left: Sequence[Region], right: Sequence[Region]) -> Iterator[Anchor]:
    partners = _by_identity(right)
    for identity, left_regions in _by_identity(left).items():
        right_regions = partners.get(identity, [])
        if len(left_regions) * len(right_regions) <= _MAX_PAIRS_OF_A_KEY:
            yield from (Anchor(region, other) for region in left_regions for other in right_regions)
        else:
            yield from map(Anchor, left_regions, right_regions)


def _by_identity(regions: Sequence[Region]) -> dict[tuple[str, str], list[Region]]:
    groups: dict[tuple[str, str], list[Region]] = {}
    for region in sorted(regions, key=lambda region: region.start):
        if region.key and region.kind in ANCHOR_WEIGHTS:
            groups.setdefault((region.kind, region.key), []).append(region)
    return groups


def _heaviest_chain(pairs: Sequence[Anchor]) -> list[Anchor]:
    # A Fenwick tree of prefix maxima: the right line + 1 -> the best chain that ends there, by its
    # weight and by the index of its last pair.
    size = max((pair.right.start + 2 for pair in pairs), default=0)
    weights, ends = [0] * size, [-1] * size
    previous: list[int] = []
    heaviest, last = 0, -1
    for index, pair in enumerate(pairs):
        place = pair.right.start + 1
        weight, before = 0, -1
        at = place - 1
        while at > 0:
            if weights[at] > weight:
                weight, before = weights[at], ends[at]
            at -= at & -at
        previous.append(before)
        weight += ANCHOR_WEIGHTS[pair.left.kind]
        at = place
        while at < size:
            if weight > weights[at]:
                weights[at], ends[at] = weight, index
            at += at & -at
        if weight > heaviest:
            heaviest, last = weight, index
    chain: list[Anchor] = []
    while last >= 0:
        chain.append(pairs[last])
        last = previous[last]
    return chain[::-1]
