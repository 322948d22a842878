"""How compilations ended, in words and in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ...report import Compilation, VariantReport
from ...report.compilation.artifacts import Outcome
from .wording import count

OUTCOMES: dict[Outcome, str] = {
    "compiled": "compiled",
    "failed": "failed",
    "eager": "fell back to eager",
}


def outcome_words(outcome: Outcome) -> str:
    """Return the words for an outcome; empty if it was compiled."""
    return "" if outcome == "compiled" else OUTCOMES[outcome]


def outcome_counts(failures: int, fallbacks: int) -> list[str]:
    """Return how many compilations were not compiled, in short phrases; empty if all were.

    Parameters
    ----------
    failures, fallbacks
        The compilations whose error torch raised, and those that it ran in eager instead.
    """
    phrases = []
    if failures:
        phrases.append(count(failures, "failure"))
    if fallbacks:
        phrases.append(count(fallbacks, "fallback to eager", "fallbacks to eager"))
    return phrases


def outcome_counts_of(compilations: Iterable[Compilation]) -> list[str]:
    """Return `outcome_counts` of some compilations."""
    outcomes = Counter(compilation.outcome for compilation in compilations)
    return outcome_counts(outcomes["failed"], outcomes["eager"])


def complete_outcomes(variant: VariantReport) -> None:
    """Fill in the outcomes of a trace from a file of an earlier version: its problems have them."""
    outcomes: dict[str, Outcome] = {
        compile_id: "failed" if problem.severity == "error" else "eager"
        for problem in variant.problems
        for compile_id in problem.compilations
    }
    for compilation in variant.compilations:
        if compilation.outcome == "compiled":
            compilation.outcome = outcomes.get(compilation.id, "compiled")
