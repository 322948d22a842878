"""What else of a call causes its recompile, if only one piece of advice is followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....report import Advice, Failure
from ..reasons.other_changes import is_number
from .number_uses import NumberUses

_DYNAMIC = ("dynamic", "module_int", "specialize_float")
"""Kinds of advice that make other numbers dynamic too."""
_WHATEVER_FAILS = ("optimizer_state", "duck_shape")
"""Kinds of advice that hold for the other guards of the same cause too."""


def remaining(
    advice: Advice, changes: Sequence[Failure], uses: NumberUses, settings: Mapping[str, Any]
) -> list[Failure]:
    """The changes that cause the recompile even if the advice is followed.

    Parameters
    ----------
    changes
        What changed besides the guard that the advice is on.
    settings
        Dynamo's settings in force.
    """
    if advice.kind in _WHATEVER_FAILS:
        return []
    # torch makes a number that changes a symbol by itself. One that the new compilation guards as
    # a constant can be none, like an integer attribute of a module: dynamic=True changes nothing.
    stays = advice.kind == "dynamic" and settings.get("automatic_dynamic_shapes") is True
    return [
        change
        for change in changes
        if stays or not (advice.kind in _DYNAMIC and is_number(change)) or uses.is_constant(change)
    ]
