"""The top of the HTML report: problems, and the table of variants with their times."""

from __future__ import annotations

from html import escape

from ..report import Problem, Report, VariantReport
from . import changes, summary, target_rows, wording
from .pairs import compared
from .style import Markup

SWITCHES = 8
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


def timings(report: Report, markup: Markup) -> str:
    """Return the table of variants: what was asked, how fast it is, and whether it is right."""
    variants = compared(report)
    if not variants:
        return ""
    timed = [variant.timing.median_us for variant in variants if variant.timing]
    slowest = max(timed, default=0.0)
    rows = [_row(variant, slowest, markup) for variant in variants]
    # A narrow notebook shows the first columns and scrolls to the others: what counts comes first.
    times = ("median", "vs eager", "", "95 % interval", "compile")
    heads = ("variant", *times, "estimated", "outputs", "switches", "stage")
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


def _row(variant: VariantReport, slowest: float, markup: Markup) -> tuple[str, ...]:
    timing = variant.timing
    figures = ("", "", "", "")
    if timing is not None:
        spread = wording.ratio_interval(timing)
        ratio = escape(wording.ratio(timing))
        if spread and ratio:
            ratio += " " + markup.element("span", "muted", f"({spread})")
        share = 100 * timing.median_us / slowest if slowest else 0
        figures = (
            f"<b>{wording.duration(timing.median_us)}</b>",
            ratio,
            _bar(share, markup, baseline=variant.name == timing.baseline),
            wording.interval(timing),
        )
    return (
        f"<b>{escape(variant.name)}</b>",
        *figures,
        wording.seconds(variant),
        escape(target_rows.estimated(variant)),
        escape(wording.accuracy(variant)),
        escape(wording.switches(variant.requested)),
        escape(wording.stage(variant)),
    )


def _bar(share: float, markup: Markup, *, baseline: bool) -> str:
    fill = "fill fill-base" if baseline else "fill"
    inner = markup.element("span", fill, "", extra=f"width:{max(share, 1):.0f}%;")
    return markup.element("span", "track", inner)


def _cell(body: str, index: int, markup: Markup) -> str:
    if index == 0:
        return f'<th scope="row"{markup.attributes("words")}>{body}</th>'
    return markup.element("td", "words" if index == SWITCHES else "figure", body)
