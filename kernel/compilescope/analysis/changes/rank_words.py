"""A rank of a distributed run and how it differs from the others, in words."""

from __future__ import annotations

from ...report import Count, Rank
from ..figures.wording import count, place


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


def rank_count(rank: Rank | None) -> list[Count]:
    """The differences from other ranks as a warning of the Overview; empty if there are none."""
    if rank is None or not rank.differences:
        return []
    where = next((each.where for each in rank.differences if each.where is not None), None)
    return [
        Count(
            number=len(rank.differences),
            text=rank.outcome + (f" ({place(where)})" if where is not None else ""),
            view="ranks",
            warning=True,
            why=next((each.why for each in rank.differences if each.serious), ""),
        )
    ]
