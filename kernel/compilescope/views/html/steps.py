"""What the steps of measured wrappers cost, as HTML: a folded table for each graph."""

from __future__ import annotations

from html import escape

from ...report import Report
from ..rows import steps as step_rows
from .style import Markup
from .summary import details
from .table import table


def steps(report: Report, markup: Markup) -> str:
    """Return the tables; empty where nothing was measured."""
    return "\n".join(
        details(
            f"<b>{escape(step_rows.headline(graph))}</b>",
            table(step_rows.head(graph), step_rows.rows(graph), markup)
            + "".join(
                markup.element("p", "line", escape(line)) for line in step_rows.remarks(graph)
            ),
            markup,
        )
        for graph in step_rows.measured(report)
    )
