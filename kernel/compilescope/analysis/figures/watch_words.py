"""The compilations of a watch, in words: for the panel and a terminal."""

from __future__ import annotations

from ...report.subjects.watching import WatchState
from ...report.units import whole_number
from .counts import breaks_and_occurrences
from .outcome_words import compilation_count
from .wording import compile_time, count


def watch_counts(state: WatchState) -> list[str]:
    """Return what a watch has recorded, in short phrases."""
    held, budget = (_megabytes(size) for size in (state.held_bytes, state.budget_bytes))
    phrases = [
        compilation_count(state.compilations, state.failures, state.fallbacks),
        count(state.recompiles, "recompile"),
        breaks_and_occurrences(state.breaks, state.break_occurrences),
        compile_time(state.seconds),
        f"{held} of {budget} MB held",
    ]
    if state.reduced:
        phrases.append(f"{count(state.reduced, 'compilation')} reduced to an outline")
    if state.left_out:
        phrases.append(f"{whole_number(state.left_out)} only counted")
    return [phrase for phrase in phrases if phrase]


def _megabytes(size: float) -> str:
    megabytes = size / 1e6
    return f"{megabytes:.1f}" if megabytes < 10 else f"{megabytes:.0f}"
