"""What the steps of measured wrappers cost, as HTML: a folded table for each graph."""

from __future__ import annotations

from html import escape

from ..report import Report
from . import step_rows
from .html_summary import details
from .step_rows import Graph
from .style import Markup


def steps(report: Report, markup: Markup) -> str:
    """Return the tables; empty where nothing was measured."""
    return "\n".join(
        details(
            f"<b>{escape(step_rows.headline(graph))}</b>",
            _table(graph, markup)
            + "".join(
                markup.element("p", "line", escape(line)) for line in step_rows.remarks(graph)
            ),
            markup,
        )
        for graph in step_rows.measured(report)
    )


def _table(graph: Graph, markup: Markup) -> str:
    head = "".join(markup.element("th", "head", escape(one)) for one in step_rows.head(graph))
    body = "".join(
        f"<tr{markup.attributes('plain')}>{_cells(row, markup)}</tr>"
        for row in step_rows.rows(graph)
    )
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return markup.element("div", "scroll", markup.element("table", "table", table))


def _cells(row: tuple[str, ...], markup: Markup) -> str:
    title = f'<th scope="row"{markup.attributes("words")}>{escape(row[0])}</th>'
    return title + "".join(markup.element("td", "figure", escape(cell)) for cell in row[1:])
