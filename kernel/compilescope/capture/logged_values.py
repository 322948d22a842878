"""Checks values in torch's logs, since a damaged trace may contain anything."""

from __future__ import annotations

import json
import math
from typing import Any


def finite(value: object) -> float | None:
    """The value as a number that a report can store; otherwise None.

    JSON has no infinity and no NaN, and Python's integers may be larger than any float.
    """
    if not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def decoded(text: str) -> Any:
    r"""Parses JSON, with strings that can be encoded in UTF-8.

    Half of a pair (``"\ud800"``) is valid only in Python: it becomes a question mark.

    Raises
    ------
    ValueError
        The text is not JSON, or nested too deep.
    """
    try:
        value = json.loads(text)
        if "\\u" in text:
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value
