"""A rank of a distributed run and how it differs from the others, in words."""

from __future__ import annotations

from ...report import Rank
from ..figures.wording import count


def add_rank_words(rank: Rank) -> None:
    """Fill in the title and the outcome of the comparison with the other ranks."""
    rank.title = _title(rank)
    rank.outcome = _outcome(rank)


def _title(rank: Rank) -> str:
    # A rank whose process died has no device.
    where = " on ".join(filter(None, [rank.backend, rank.device]))
    return ", ".join(filter(None, [f"Rank {rank.rank} of {rank.size}", where]))


def _outcome(rank: Rank) -> str:
    if rank.same:
        # The first rank is compared with every other, and those only with it.
        return "Same code as on rank 0" if rank.rank else "Same code on every rank"
    if not rank.differences:
        return ""
    serious = sum(difference.serious for difference in rank.differences)
    outcome = f"{count(len(rank.differences), 'difference')} from other ranks"
    return f"{outcome}, {serious} may hang or corrupt data" if serious else outcome
