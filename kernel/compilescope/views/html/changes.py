"""What each variant changed, as a fold of the HTML report."""

from __future__ import annotations

from html import escape

from ...report import Report
from ..rows import changes as changed_rows
from .style import Markup
from .summary import details

_SHOWN = 12


def changes(report: Report, markup: Markup) -> str:
    """Return each variant's changes in a sentence, and below it what they are."""
    parts = []
    for variant, found in changed_rows.changed(report):
        head = f"<b>{escape(variant.name)}</b> · {escape(found.summary)}"
        told = [changed_rows.only_inductor(variant, found)]
        rows = [*changed_rows.kernels(found), *changed_rows.others(found)]
        told += [f"{one.what}. {one.why}".strip() for one in rows[:_SHOWN]]
        if len(rows) > _SHOWN:
            told.append(f"and {len(rows) - _SHOWN} more: .variant({variant.name!r}).changes")
        lines = "<br>".join(escape(one) for one in told if one)
        body = markup.element("p", "line", lines)
        parts.append(details(head, body, markup) if lines else markup.element("p", "line", head))
    if not parts:
        return ""
    return markup.element("p", "part", "<b>What each variant changed</b>") + "".join(parts)
