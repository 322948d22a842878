"""What became of each tier of a graph, in words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from compilescope.analysis.figures.tier_words import add_tier_words
from compilescope.report import Report, Subject
from compilescope.report.saving.storage import from_json
from compilescope.report.tiers import GraphTiers, SwapGain, Tier

FIRST = Tier(name="python", state="replaced", seconds=1.5)
GAIN = SwapGain(
    before_us=843,
    after_us=207,
    before_quartiles_us=(800, 900),
    after_quartiles_us=(200, 210),
    calls=15,
    is_host_time=True,
)
OVERLAPPING = SwapGain(
    before_us=118,
    after_us=112,
    before_quartiles_us=(110, 130),
    after_quartiles_us=(105, 115),
    calls=15,
)


def _lines(*tiers: Tier, **change: Any) -> list[str]:
    graph = GraphTiers(
        compilation="0/0", kind="inference", serving="python", tiers=[FIRST, *tiers], **change
    )
    add_tier_words(graph)
    return graph.lines


@pytest.mark.parametrize(
    ("tier", "change", "words"),
    [
        (Tier(name="cpp", state="builds"), {}, "C++ wrapper: being built"),
        (Tier(name="cpp", state="serves", cached=True), {}, "C++ wrapper: from the cache"),
        (
            Tier(name="cpp", state="serves", seconds=7.0),
            {"swapped_s": 8.0},
            "C++ wrapper: built in 7.0 s, swapped in after 8.0 s",
        ),
        (
            Tier(name="cpp", state="serves", cached=True, gain=OVERLAPPING),
            {},
            "C++ wrapper: from the cache, 118 µs → 112 µs per call, no clear difference",
        ),
        (
            Tier(name="cpp", state="checks", seconds=7.0),
            {},
            "C++ wrapper: built in 7.0 s, checked at the next call",
        ),
        (
            Tier(name="cpp", state="checks", seconds=7.0),
            {"pinned": True},
            "C++ wrapper: built in 7.0 s",
        ),
        (
            Tier(
                name="cuda_graphs",
                state="serves",
                seconds=0.02,
                swapped_s=9.0,
                gain=GAIN,
                pool_bytes=90e6,
            ),
            {},
            (
                "CUDA graphs: recorded in 0.02 s, swapped in after 9.0 s, "
                "843 µs → 207 µs of host time per call, pool 85.8 MiB"
            ),
        ),
    ],
)
def test_the_state_of_a_tier(tier: Tier, change: dict[str, Any], words: str) -> None:
    assert _lines(tier, **change) == ["Python wrapper: compiled in 1.5 s", words]


def test_each_reason_is_said_once() -> None:
    failed = Tier(name="cpp", state="failed", why="No g++.")
    unwanted = Tier(name="cuda_graphs", state="unwanted", why="No g++.")
    assert _lines(failed, unwanted)[1:] == [
        "C++ wrapper: failed",
        "CUDA graphs: not recorded",
        "No g++.",
    ]


def test_a_file_of_an_earlier_version_gets_the_words() -> None:
    graph = GraphTiers(compilation="0/0", kind="inference", serving="python", tiers=[FIRST])
    report = Report(subject=Subject(id="a", name="f", kind="watch"), tiers=[graph])
    assert graph.lines == []
    stored = from_json(msgspec.json.encode(report))
    assert stored.tiers[0].lines == ["Python wrapper: compiled in 1.5 s"]
