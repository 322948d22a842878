"""Divides a concatenation among the kernels that write to its buffer in parts."""

from __future__ import annotations

from collections.abc import Sequence


def own_inputs(
    owners: Sequence[str], groups: Sequence[frozenset[str]], inside: frozenset[str]
) -> list[bool] | None:
    """Which inputs of a concatenation a kernel copies to its buffer.

    Parameters
    ----------
    owners
        The nodes that compute the inputs.
    groups
        The nodes of each kernel that torch names for the concatenation.
    inside
        The nodes of the kernel in question.

    Returns
    -------
    list of bool or None
        For each input; None if it is unknown which kernel copies one. A kernel that computes an
        input copies it, and a kernel that computes none copies the rest.
    """
    others = [group for group in groups if group.isdisjoint(owners)]
    own = []
    for owner in owners:
        copying = [group for group in groups if owner in group] or others
        if len(copying) != 1:
            return None
        own.append(inside <= copying[0])
    return own
