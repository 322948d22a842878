"""The table of results: the measurements of each variant, with bars."""

from __future__ import annotations

from collections.abc import Sequence

from ...report import Result
from .table import Column, Table

TABLE = Table(
    "results",
    (
        Column("variant", "variant"),
        Column("latency", "latency per call", kind="figure"),
        Column("bar", "latency", kind="drawing"),
        Column("speedup", "over eager"),
        Column("first_call", "first call", kind="figure"),
        Column(
            "accuracy",
            "accuracy",
            "Whether the outputs agree with eager's",
            words={"right": "\u2713", "wrong": "\u2717 differs"},
        ),
    ),
)


def columns(results: Sequence[Result]) -> list[Column]:
    """Return the columns in which any result has a cell."""
    has_cells = {
        "latency": any(result.latency for result in results),
        "first_call": any(result.first_call for result in results),
        "accuracy": any(result.accurate is not None for result in results),
    }
    has_cells["bar"] = has_cells["speedup"] = has_cells["latency"]
    return [column for column in TABLE.columns if has_cells.get(column.id, True)]
