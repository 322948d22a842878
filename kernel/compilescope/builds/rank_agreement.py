"""Decisions that processes which make the same calls take together, or a single process alone."""

from __future__ import annotations

from typing import Protocol


class RankAgreement(Protocol):
    """Gives every process the same answers, so that all call the subject equally often.

    Each process asks the same questions in the same order, whatever its own state.
    """

    def any(self, mine: bool) -> bool:
        """Whether it is true in at least one process."""
        ...

    def all(self, able: bool) -> bool:
        """Whether it is true in every process; a process that cannot answer counts as false."""
        ...


class SingleProcess:
    """The only process: what it says counts."""

    def any(self, mine: bool) -> bool:
        """What was said."""
        return mine

    def all(self, able: bool) -> bool:
        """What was said."""
        return able


ALONE = SingleProcess()
