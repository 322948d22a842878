"""What settings change in the first call, as HTML: a folded table for each variant."""

from __future__ import annotations

from html import escape

from ...report import Report
from ..rows import cold as cold_rows
from .style import Markup
from .summary import details
from .table import table


def cold(report: Report, markup: Markup) -> str:
    """Return the tables; empty where nothing was measured."""
    return "\n".join(
        details(
            f"<b>{escape(cold_rows.headline(variant))}</b>",
            table(cold_rows.HEAD, cold_rows.rows(variant), markup)
            + "".join(
                markup.element("p", "line", escape(line)) for line in cold_rows.remarks(variant)
            ),
            markup,
        )
        for variant in cold_rows.studied(report)
    )
