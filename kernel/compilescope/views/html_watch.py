"""What a watch saw: a table of compilations, and each of them folded."""

from __future__ import annotations

from html import escape

from ..report import Report
from . import watch_rows, wording
from .html_compilations import compilation_details
from .html_summary import details, problems
from .limits import Limits
from .style import Markup
from .summary import environment

_ROWS = 40
_FIGURES = ("seconds", "breaks")


def watched(report: Report, markup: Markup, limits: Limits, hint: str) -> str:
    """Return the table; ``hint`` says how to see what is cut."""
    written = report.variants[0]
    parts = [
        markup.element("p", "title", escape(watch_rows.headline(report))),
        markup.element("p", "line", escape(environment(report))),
        problems(report, markup, limits.problems),
        _table(report, markup, hint),
    ]
    for compilation in written.compilations[-limits.compilations :]:
        frame = compilation.frame
        name = f"{frame.function} ({wording.place(frame)})" if frame else "unknown frame"
        inside = compilation_details(written, compilation, markup, limits, hint)
        parts.append(details(f"<b>{escape(compilation.id)}</b> · {escape(name)}", inside, markup))
    return "\n".join(part for part in parts if part)


def _table(report: Report, markup: Markup, hint: str) -> str:
    rows = watch_rows.rows(report)
    if not rows:
        return markup.element("p", "line", "Nothing was compiled while this was watched.")
    left_out = max(0, len(rows) - _ROWS)
    kept = [
        index
        for index in range(len(watch_rows.HEADS))
        if any(row[index] for row in rows[left_out:])
    ]
    heads = watch_rows.HEADS
    head = "".join(markup.element("th", "head", heads[index]) for index in kept)
    body = "".join(
        f"<tr{markup.attributes('plain')}>"
        + "".join(_cell(heads[index], row[index], markup) for index in kept)
        + "</tr>"
        for row in rows[left_out:]
    )
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    shown = markup.element("div", "scroll", markup.element("table", "table", table))
    if left_out:
        told = wording.count(left_out, "earlier compilation")
        shown += markup.element("p", "gap", f"{told}: <code>{escape(hint)}</code>")
    return shown


def _cell(head: str, text: str, markup: Markup) -> str:
    return markup.element("td", "figure" if head in _FIGURES else "words", escape(text))
