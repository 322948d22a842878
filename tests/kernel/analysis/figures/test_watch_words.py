"""What a watch has recorded, in words."""

from __future__ import annotations

from compilescope.analysis.figures.watch_words import watch_counts
from compilescope.report.subjects.watching import WatchState


def test_what_was_recorded() -> None:
    state = WatchState(
        compilations=9, failures=1, fallbacks=2, recompiles=2, breaks=1, seconds=0.25
    )
    state.held_bytes = 1_200_000
    state.budget_bytes = 256_000_000
    assert watch_counts(state) == [
        "9 compilations (1 failed, 2 fell back to eager)",
        "2 recompiles",
        "1 graph break",
        "250 ms of compile time",
        "1.2 of 256 MB held",
    ]


def test_what_memory_did_not_suffice_for() -> None:
    state = WatchState(reduced=30, left_out=4)
    assert watch_counts(state)[4:] == ["30 compilations reduced to an outline", "4 only counted"]
