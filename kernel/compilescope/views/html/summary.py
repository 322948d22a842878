"""The top of the HTML report: problems, and the table of variants with their times."""

from __future__ import annotations

from html import escape

from ...report import Problem, Report
from .. import deviations as changes
from .. import summary, wording
from ..rows import target
from ..wrapper_pairs import compared
from .style import Markup

SWITCHES = 1
"""The column of the table of variants that holds words, which may wrap."""


def problems(report: Report, markup: Markup, limit: int) -> str:
    """Return the problems of a report and of its variants, worst first."""
    found = summary.problems(report)
    shown = "".join(_problem(variant, problem, markup) for variant, problem in found[:limit])
    if len(found) > limit:
        left_out = wording.count(len(found) - limit, "more problem")
        shown += markup.element("p", "gap", f"{left_out}: <code>.problems</code>")
    return shown


def deviations(report: Report, markup: Markup) -> str:
    """Return where torch did something else than a variant asked for, with the reason."""
    shown = ""
    for variant, one in changes.deviations(report):
        body = (
            f"<b>{escape(one.setting)}</b> in {escape(variant.name)}: asked for "
            f"{escape(one.requested)}, got {escape(one.actual)}"
        )
        for line in (one.why, one.remedy and f"→ {one.remedy}"):
            if line:
                body += f"<br>{escape(line)}"
        shown += markup.element("div", "problem problem-warning", body)
    return shown


def _problem(variant: str, problem: Problem, markup: Markup) -> str:
    mark = markup.element("span", "problem-mark", wording.MARKS[problem.severity].capitalize())
    scope = f" in {escape(variant)}" if variant else ""
    where = f" ({escape(wording.place(problem.where))})" if problem.where else ""
    body = f"{mark}{scope}: {escape(problem.what)}{where}"
    if problem.where is not None and problem.where.code:
        body += f"<br><code>{escape(problem.where.code)}</code>"
    for line in (problem.why, problem.remedy and f"→ {problem.remedy}"):
        if line:
            body += f"<br>{escape(line)}"
    if problem.detail:
        detail = markup.element("pre", "code", escape(problem.detail))
        body += details("details", markup.element("div", "paper", detail), markup)
    styles = "problem" if problem.severity == "info" else f"problem problem-{problem.severity}"
    return markup.element("div", styles, body)


def details(summary: str, body: str, markup: Markup, *, shown: bool = False) -> str:
    """Return a fold. Both parts are markup already escaped."""
    head = markup.element("summary", "summary", summary)
    return f"<details{' open' if shown else ''}>{head}{body}</details>"


def variants(report: Report, markup: Markup) -> str:
    """Return the table of variants: what was asked, what was done, and whether it is right."""
    shown = compared(report)
    if not shown:
        return ""
    rows = [
        (
            f"<b>{escape(one.name)}</b>",
            escape(wording.settings(report, one)),
            wording.seconds(one),
            escape(target.estimated(one)),
            escape(wording.accuracy(one)),
            escape(wording.stage(one)),
        )
        for one in shown
    ]
    heads = ("variant", "switches", "compile", "estimated", "outputs", "stage")
    kept = [index for index in range(len(heads)) if any(row[index] for row in rows)]
    head = "".join(markup.element("th", "head", heads[index]) for index in kept)
    body = "".join(
        f"<tr{markup.attributes('plain')}>"
        + "".join(_cell(row[index], index, markup) for index in kept)
        + "</tr>"
        for row in rows
    )
    table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    return markup.element("div", "scroll", markup.element("table", "table", table))


def _cell(body: str, index: int, markup: Markup) -> str:
    if index == 0:
        return f'<th scope="row"{markup.attributes("words")}>{body}</th>'
    return markup.element("td", "words" if index == SWITCHES else "figure", body)
