"""Custom operators, and how kernels came to be there, as HTML: folded tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ..report import Report
from . import route_rows
from .html_summary import details
from .style import Markup


def routes(report: Report, markup: Markup) -> str:
    """Return the ways to custom operators; empty where none is called."""
    rows = route_rows.routes(report)
    if not rows:
        return ""
    return details("<b>Custom operators</b>", _table(route_rows.ROUTES, rows, markup), markup)


def loads(report: Report, markup: Markup) -> str:
    """Return how each variant's kernels were compiled, loaded and first run."""
    return "\n".join(
        details(
            f"<b>{escape(variant.name)}: kernels compiled, loaded and first run</b>",
            _table(route_rows.LOADS, route_rows.loads(variant), markup),
            markup,
        )
        for variant in route_rows.loaded(report)
    )


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]], markup: Markup) -> str:
    head = "".join(markup.element("th", "head", title) for title in heads)
    body = "".join(f"<tr{markup.attributes('plain')}>{_cells(row, markup)}</tr>" for row in rows)
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return markup.element("div", "scroll", markup.element("table", "table", table))


def _cells(row: tuple[str, ...], markup: Markup) -> str:
    title = f'<th scope="row"{markup.attributes("words")}>{escape(row[0])}</th>'
    return title + "".join(markup.element("td", "figure", escape(cell)) for cell in row[1:])
