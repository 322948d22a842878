"""One advice for a number that is an integer in some calls and a float in others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....report import Advice

_FLOATED = re.compile(r"torch\.tensor\(float\((.*)\)\)")


def unify_number_advice(advices: Sequence[Advice]) -> None:
    """Unify the advice on a number that is an integer in some calls and a float in others.

    An integer's tensor and a float's have different dtypes, which guards compare.

    Parameters
    ----------
    advices
        On the recompiles of one frame; changed in place.
    """
    floated = {
        _FLOATED.sub(r"torch.tensor(\1)", advice.code): advice
        for advice in advices
        if advice.kind == "tensor" and _FLOATED.search(advice.code)
    }
    for advice in advices:
        if advice.kind == "tensor" and advice.code in floated:
            other = floated[advice.code]
            advice.what, advice.code = other.what, other.code
