"""Divides a concatenation among the kernels that write to its buffer in parts."""

from __future__ import annotations

from collections.abc import Sequence


def own_inputs(
    owners: Sequence[str], homes: Sequence[frozenset[str]], inside: frozenset[str]
) -> list[bool] | None:
    """Which inputs of a concatenation a kernel copies to its buffer.

    Parameters
    ----------
    owners
        The nodes that compute the inputs.
    homes
        The nodes of each kernel that torch names for the concatenation.
    inside
        The nodes of the kernel in question.

    Returns
    -------
    list of bool or None
        For each input; None if it is unknown which kernel copies one. A kernel that computes an
        input copies it, and a kernel that computes none copies the rest.
    """
    others = [home for home in homes if home.isdisjoint(owners)]
    own = []
    for owner in owners:
        copying = [home for home in homes if owner in home] or others
        if len(copying) != 1:
            return None
        own.append(inside <= copying[0])
    return own
