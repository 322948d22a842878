"""How compilations ended, in words and in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...report import Compilation, VariantReport
from ...report.compilation.artifacts import Outcome
from ...report.units import whole_number
from .wording import count

OUTCOMES: dict[Outcome, str] = {
    "compiled": "compiled",
    "failed": "failed",
    "eager": "fell back to eager",
}


def outcome_words(outcome: Outcome) -> str:
    """Return the words for an outcome; empty if it was compiled."""
    return "" if outcome == "compiled" else OUTCOMES[outcome]


def compilation_count(number: int, failures: int, fallbacks: int) -> str:
    """Return how many compilations there are, and how many of them were not compiled.

    Parameters
    ----------
    number
        All of them.
    failures, fallbacks
        The compilations whose error torch raised, and those that it ran in eager instead.

    Examples
    --------
    >>> compilation_count(9, 0, 1)
    '9 compilations (1 fell back to eager)'
    """
    parts = ((failures, OUTCOMES["failed"]), (fallbacks, OUTCOMES["eager"]))
    ended = ", ".join(f"{whole_number(part)} {words}" for part, words in parts if part)
    return count(number, "compilation") + (f" ({ended})" if ended else "")


def compilation_count_of(compilations: Sequence[Compilation]) -> str:
    """Return `compilation_count` of some compilations."""
    outcomes = Counter(compilation.outcome for compilation in compilations)
    return compilation_count(len(compilations), outcomes["failed"], outcomes["eager"])


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
