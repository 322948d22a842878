"""A checkup as text and as HTML."""

from __future__ import annotations

import shutil
import textwrap
from html import escape

from ...report.checkup import STATES, Check, CheckState, Checkup
from .. import wording
from .style import Markup
from .summary import details

MARKS: dict[CheckState, str] = {
    "problem": "✗",
    "warning": "!",
    "ok": "✓",
    "not needed": "·",
}
_STYLES: dict[CheckState, str] = {
    "problem": "problem problem-error",
    "warning": "problem problem-warning",
}


def summary(checkup: Checkup) -> str:
    """Return how many checks came out how, in one line."""
    told = [
        wording.count(number, state) if state in ("problem", "warning") else f"{number} {state}"
        for state in STATES
        if (number := checkup.count(state))
    ]
    if checkup.waiting:
        told.append(f"still looking at: {', '.join(checkup.waiting)}")
    return ", ".join(told)


def text(checkup: Checkup) -> str:
    """Return a checkup as plain text."""
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    lines = [f"{checkup.environment}", summary(checkup)]
    for subject, checks in by_subject(checkup).items():
        lines += ["", subject]
        for check in checks:
            lines += _lines(check, width)
    return "\n".join(lines)


def html(checkup: Checkup) -> str:
    """Return a checkup for a cell: what is wrong first, then everything in a table."""
    markup = Markup()
    parts = [
        markup.element("p", "title", "compilescope doctor"),
        markup.element("p", "line", f"{escape(checkup.environment)}<br>{escape(summary(checkup))}"),
    ]
    for state, style in _STYLES.items():
        parts += [_card(one, style, markup) for one in checkup.checks if one.state == state]
    parts.append(_table(checkup, markup))
    return markup.element("div", "root", "".join(parts))


def by_subject(checkup: Checkup) -> dict[str, list[Check]]:
    """Return the checks under their subjects, in the order in which they stand."""
    found: dict[str, list[Check]] = {}
    for check in checkup.checks:
        found.setdefault(check.subject, []).append(check)
    return found


def _lines(check: Check, width: int) -> list[str]:
    head = f"  {MARKS[check.state]} {check.name}: {check.found}"
    lines = textwrap.wrap(head, width, subsequent_indent="      ")
    if check.remedy:
        lines += textwrap.wrap(
            f"→ {check.remedy}", width, initial_indent="      ", subsequent_indent="        "
        )
    return lines


def _card(check: Check, style: str, markup: Markup) -> str:
    mark = markup.element("span", "problem-mark", check.state.capitalize())
    body = f"{mark}: {escape(check.subject)}, {escape(check.name)}: {escape(check.found)}"
    if check.remedy:
        body += f"<br>→ {escape(check.remedy)}"
    if check.detail:
        detail = markup.element("pre", "code", escape(check.detail))
        body += details("details", markup.element("div", "paper", detail), markup)
    return markup.element("div", style, body)


def _table(checkup: Checkup, markup: Markup) -> str:
    head = "".join(markup.element("th", "head", name) for name in ("", "subject", "check", "found"))
    rows = []
    for subject, checks in by_subject(checkup).items():
        for index, check in enumerate(checks):
            named = f'title="{check.state}" aria-label="{check.state}"'
            mark = f"<span {named}>{MARKS[check.state]}</span>"
            rows.append(
                "<tr>"
                + markup.element("td", "cell", mark)
                + markup.element("td", "cell", escape(subject if index == 0 else ""))
                + markup.element("td", "cell", escape(check.name))
                + markup.element("td", "words", escape(check.found))
                + "</tr>"
            )
    table = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return markup.element("div", "scroll", markup.element("table", "table", table))
