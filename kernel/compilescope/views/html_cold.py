"""What settings change in the first call, as HTML: a folded table for each variant."""

from __future__ import annotations

from html import escape

from ..report import Report
from . import cold_rows
from .html_summary import details
from .style import Markup


def cold(report: Report, markup: Markup) -> str:
    """Return the tables; empty where nothing was measured."""
    return "\n".join(
        details(
            f"<b>{escape(cold_rows.headline(variant))}</b>",
            _table(cold_rows.rows(variant), markup)
            + "".join(
                markup.element("p", "line", escape(line)) for line in cold_rows.remarks(variant)
            ),
            markup,
        )
        for variant in cold_rows.studied(report)
    )


def _table(rows: list[tuple[str, ...]], markup: Markup) -> str:
    if not rows:
        return ""
    head = "".join(markup.element("th", "head", title) for title in cold_rows.HEAD)
    body = "".join(f"<tr{markup.attributes('plain')}>{_cells(row, markup)}</tr>" for row in rows)
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return markup.element("div", "scroll", markup.element("table", "table", table))


def _cells(row: tuple[str, ...], markup: Markup) -> str:
    title = f'<th scope="row"{markup.attributes("words")}>{escape(row[0])}</th>'
    return title + "".join(markup.element("td", "figure", escape(cell)) for cell in row[1:])
