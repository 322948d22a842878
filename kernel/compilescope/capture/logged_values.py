"""Checks values in torch's logs, since a damaged trace may contain anything."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec


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


_MAX_COUNT = 2**53


def logged_count(value: object) -> int | None:
    """The value as a count, a line or an id that a report can store; otherwise None.

    JSON's ``true`` is an integer in Python only, and not every reader of JSON keeps larger
    integers exact.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MAX_COUNT:
        return value
    return None


def decoded(text: str) -> Any:
    r"""Parses JSON, with strings that can be encoded in UTF-8.

    Half of a pair (``"\ud800"``) is valid only in Python: it becomes a question mark.

    Raises
    ------
    ValueError
        The text is not JSON, or nested too deep.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        # Python reads more: NaN, numbers beyond a float, lone surrogates. Few logs have these.
        import json
    try:
        value = json.loads(text)
        if "\\u" in text:
            value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    return value


def json_object(text: str | None) -> dict[str, Any]:
    """A JSON object that torch logged; empty if it logged something else."""
    try:
        value = decoded(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def compile_time_s(*metrics: Mapping[str, object]) -> float | None:
    """The compile time of a forward and of its backward, which torch compiles when it runs.

    Parameters
    ----------
    metrics
        What torch logs of either; empty if it was not compiled.
    """
    known = [seconds for logged in metrics if (seconds := _compile_time_s(logged)) is not None]
    return sum(known) if known else None


def _compile_time_s(metrics: Mapping[str, object]) -> float | None:
    """The time of either; torch 2.3 to 2.6 log it under other names."""
    for name, per_second in (
        ("duration_us", 1e6),
        ("dynamo_cumulative_compile_time_us", 1e6),
        ("entire_frame_compile_time_s", 1.0),
    ):
        logged = finite(metrics.get(name))
        if logged is not None:
            return logged / per_second
    return None
