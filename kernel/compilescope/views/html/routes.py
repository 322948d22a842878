"""Custom operators, and how kernels came to be there, as HTML: folded tables."""

from __future__ import annotations

from html import escape

from ...report import Report
from ..rows import routes as route_rows
from .style import Markup
from .summary import details
from .table import table


def routes(report: Report, markup: Markup) -> str:
    """Return the ways to custom operators; empty where none is called."""
    rows = route_rows.routes(report)
    if not rows:
        return ""
    return details("<b>Custom operators</b>", table(route_rows.ROUTES, rows, markup), markup)


def loads(report: Report, markup: Markup) -> str:
    """Return how each variant's kernels were compiled, loaded and first run."""
    return "\n".join(
        details(
            f"<b>{escape(variant.name)}: kernels compiled, loaded and first run</b>",
            table(route_rows.LOADS, route_rows.loads(variant), markup),
            markup,
        )
        for variant in route_rows.loaded(report)
    )
