"""A sweep as HTML: the table of its cells, the winner and its code."""

from __future__ import annotations

from html import escape

from ...report import Report, Sweep
from .. import wording
from ..rows import sweep as sweep_rows
from .style import Markup
from .table import table

_WORDS = frozenset((0, 1, 7, 8, 9))
"""Columns of words, which may wrap; the others are figures."""


def render(report: Report) -> str:
    """Return a report's sweep as a fragment for a cell, with inline styles."""
    markup = Markup()
    place = wording.place(report.subject.where)
    title = escape(report.subject.name) + (f" <small>{escape(place)}</small>" if place else "")
    body = sweep(report.sweep, markup) if report.sweep is not None else ""
    return markup.element("div", "root", markup.element("p", "line", f"<b>{title}</b>") + body)


def sweep(found: Sweep, markup: Markup) -> str:
    """Return a sweep: what it came to, then its cells."""
    parts = [markup.element("p", "line", escape(sweep_rows.headline(found)))]
    for problem in found.problems:
        told = " ".join(one for one in (problem.what, problem.why, problem.remedy) if one)
        parts.append(markup.element("div", f"problem problem-{problem.severity}", escape(told)))
    said = sweep_rows.verdict(found)
    if said:
        parts.append(markup.element("p", "line", f"<b>{escape(said)}</b>"))
        code = markup.element("pre", "code", escape(found.code))
        parts.append(markup.element("div", "paper", code))
    made = table(
        sweep_rows.HEAD, sweep_rows.rows(found), markup, words=_WORDS, tag="b", sparse=True
    )
    return "".join(parts) + made
