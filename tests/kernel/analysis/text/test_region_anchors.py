"""Side by side: every line once, in order, partners face to face."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from compilescope.analysis.text.region_anchors import Block, blocks, match_regions
from compilescope.analysis.wrapper.launch_pairs import pair
from compilescope.report import Region
from hypothesis import given, settings
from hypothesis import strategies as st


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[Region], int]:
    """Regions of a text as a scanner finds them, and the text's length."""
    regions = []
    line = 1
    for _ in range(draw(st.integers(0, 12))):
        line += draw(st.integers(0, 4))
        end = line + draw(st.integers(0, 3))
        kind = draw(st.sampled_from(["launch", "launch", "kernel", "entry", "return", "alloc"]))
        key = draw(st.sampled_from(["", *"abcdefgh"]))
        regions.append(Region(kind=kind, start=line, end=end, key=key))
        line = end + 1 if kind != "entry" else line + 1
    return regions, line + draw(st.integers(0, 5))


def check(aligned: list[Block], left_lines: int, right_lines: int) -> None:
    left = [n for block in aligned for n in range(block.left_start, block.left_end + 1)]
    right = [n for block in aligned for n in range(block.right_start, block.right_end + 1)]
    assert left == list(range(1, left_lines + 1))
    assert right == list(range(1, right_lines + 1))


@given(texts(), texts())
@settings(max_examples=300)
def test_every_line_stands_in_one_block_and_in_order(left, right):
    (ours, left_lines), (theirs, right_lines) = left, right
    left_lines = max([left_lines, *(region.end for region in ours)])
    right_lines = max([right_lines, *(region.end for region in theirs)])
    aligned = blocks(ours, theirs, left_lines, right_lines)
    check(aligned, left_lines, right_lines)
    starts = {(region.start, region.key) for region in ours}
    others = {(region.start, region.key) for region in theirs}
    for block in aligned:
        if block.key is not None:
            assert (block.left_start, block.key) in starts
            assert (block.right_start, block.key) in others


@given(texts())
@settings(max_examples=100)
def test_a_text_faces_itself(text):
    regions, lines = text
    lines = max([lines, *(region.end for region in regions)])
    for block in blocks(regions, regions, lines, lines):
        assert (block.left_start, block.left_end) == (block.right_start, block.right_end)


CASES = Path(__file__).parents[3] / "data" / "anchors.json"


@pytest.mark.parametrize("case", json.loads(CASES.read_text()), ids=lambda case: case["name"])
def test_anchors_are_those_of_the_panel(case):
    left, right = (
        [Region(kind=kind, start=start, end=end, key=key) for kind, start, end, key in case[side]]
        for side in ("left", "right")
    )
    anchors = [
        [anchor.left.key, anchor.left.start, anchor.right.start]
        for anchor in match_regions(left, right)
    ]
    assert anchors == case["anchors"]


def test_a_region_ends_where_the_next_one_begins():
    left = [Region(kind="launch", start=n, end=9, key=key) for n, key in ((1, "a"), (4, "b"))]
    aligned = blocks(left, left, 9, 9)
    assert aligned == [Block(1, 3, 1, 3, "a"), Block(4, 9, 4, 9, "b")]


def test_real_wrappers_face_each_other_at_every_launch(compiled):
    for case in ("mlp", "training", "fallbacks"):
        python, cpp = compiled(case, "python")[0], compiled(case, "cpp")[0]
        pair(python, cpp)
        for left, right in ((python.code, cpp.code), (python.code.backward, cpp.code.backward)):
            if left is None or right is None:
                continue
            left_lines = (left.python or "").count("\n") + 1
            right_lines = (right.cpp or "").count("\n") + 1
            aligned = blocks(left.regions["python"], right.regions["cpp"], left_lines, right_lines)
            check(aligned, left_lines, right_lines)
            facing = {block.key for block in aligned}
            launches = {
                region.key
                for region in left.regions["python"]
                # The branches of torch.cond are functions above the one that calls them in Python,
                # and blocks inside it in C++.
                if region.kind == "launch" and not region.label.startswith("cpp_fused_cos_gt")
            }
            missing = launches - facing
            assert len(missing) <= (3 if case == "fallbacks" else 0)
            assert any(key and key.startswith("return:") for key in facing)
