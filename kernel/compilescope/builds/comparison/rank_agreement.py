"""Decisions that several processes with the same calls make together, or one process alone."""

from __future__ import annotations

from typing import Protocol


class RankAgreement(Protocol):
    """Answers equally in every process, so that all call the subject equally often.

    Each process asks the same questions in the same order, whatever its own state.
    """

    def any(self, own_answer: bool) -> bool:
        """Whether it is true in at least one process."""
        ...

    def all(self, own_answer: bool) -> bool:
        """Whether it is true in every process; a process that cannot answer counts as false."""
        ...


class SingleProcess:
    """A single process: its own answer decides."""

    def any(self, own_answer: bool) -> bool:
        """Return this process's own answer."""
        return own_answer

    def all(self, own_answer: bool) -> bool:
        """Return this process's own answer."""
        return own_answer


ALONE = SingleProcess()
