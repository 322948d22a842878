"""First calls in new processes, and after how many calls a variant pays off, as rows of words."""

from __future__ import annotations

from collections.abc import Iterator

from ...analysis.figures.wording import largest_parts
from ...report import Report, VariantReport
from .. import wording
from .table import Column, Table

TITLE = "First calls, each in a new process"
TABLE = Table(
    "startups",
    (
        Column("variant", "variant"),
        Column("caches", "caches", words={"cold": "cold", "warm": "warm"}),
        Column(
            "headers",
            "headers",
            "Whether torch may precompile C++ headers",
            words={"precompiled": "precompiled", "plain": "plain"},
        ),
        Column("first_call", "first call", kind="figure"),
        Column("drawing", "its parts, drawn", kind="drawing", where="panel"),
        Column("parts", "largest parts", where="text"),
        Column("header_build", "header build", "Of the C++ build", "figure"),
        Column("imports", "imports", "Before: Python, torch, the subject", "figure"),
        Column("memory", "memory", "Peak memory of the process", "figure"),
    ),
)
"""The panel has a column for each part of a first call after the drawing."""


def studied(report: Report) -> list[VariantReport]:
    """Return the variants whose first calls were measured in new processes."""
    return [variant for variant in report.variants if variant.startups]


def rows(report: Report) -> list[tuple[str, ...]]:
    """Return the first calls in the order of `TABLE`."""
    return [
        TABLE.row(
            variant=variant.name,
            caches=TABLE.words("caches")[startup.cache],
            headers=TABLE.words("headers")[
                "precompiled" if startup.precompiled_headers else "plain"
            ],
            first_call=_seconds(startup.first_call_s),
            parts=startup.problem.what if startup.problem else largest_parts(startup.parts),
            header_build=_seconds(startup.headers_s),
            imports=_seconds(startup.imports_s),
            memory="" if startup.memory_bytes is None else wording.size(startup.memory_bytes),
        )
        for variant in studied(report)
        for startup in variant.startups
    ]


def paybacks(report: Report) -> Iterator[str]:
    """Yield after how many calls each variant has made up for its compile time."""
    for variant in studied(report):
        for payback in variant.paybacks:
            if payback.text:
                yield f"{variant.name} {payback.text}."


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else wording.duration(seconds * 1e6)
