"""What several processes that make the same calls decide together, and what one decides alone."""

from __future__ import annotations

from typing import Protocol


class RankAgreement(Protocol):
    """Answers that every process gets alike, so that all call the subject equally often.

    Each asks the same questions in the same order, whatever it knows itself.
    """

    def any(self, wanted: bool) -> bool:
        """Whether one of them at least says so."""
        ...

    def all(self, able: bool) -> bool:
        """Whether each of them says so; not to be able is to have failed."""
        ...


class SingleProcess:
    """The only process: what it says counts."""

    def any(self, wanted: bool) -> bool:
        """What was said."""
        return wanted

    def all(self, able: bool) -> bool:
        """What was said."""
        return able


ALONE = SingleProcess()
