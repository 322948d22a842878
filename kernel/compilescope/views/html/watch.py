"""What a watch saw: a table of compilations, and each of them folded."""

from __future__ import annotations

from html import escape

from ...report import Report
from .. import wording
from ..limits import Limits
from ..rows import watch
from ..summary import environment
from .compilations import compilation_details
from .style import Markup
from .summary import details, problems

_ROWS = 40
_FIGURES = ("seconds", "breaks")


def watched(report: Report, markup: Markup, limits: Limits, hint: str) -> str:
    """Return the table; ``hint`` says how to see what is cut."""
    written = report.variants[0]
    parts = [
        markup.element("p", "title", escape(watch.headline(report))),
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
    rows = watch.rows(report)
    if not rows:
        return markup.element("p", "line", "Nothing was compiled while this was watched.")
    left_out = max(0, len(rows) - _ROWS)
    kept = [
        index for index in range(len(watch.HEADS)) if any(row[index] for row in rows[left_out:])
    ]
    heads = watch.HEADS
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
