"""The report in a cell: the answer in about eight lines, the rest in the panel or folded."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...report import Overview, Report, Result, conclude
from .. import summary, wording
from ..limits import Limits
from .overview import follows, results
from .style import Markup
from .summary import details, problems

_ROWS = 5
"""Variants in the table: more are in the panel, and in the fold where there is none."""
_TARGETS = 3


def answer(report: Report, markup: Markup, *, panel: bool) -> str:
    """Return the answer: verdict, variants, the worst error, what follows, what happened.

    Parameters
    ----------
    report, markup
        What to show, and how.
    panel
        Whether a panel shows the rest: then a button opens it there.
    """
    found = conclude(report)
    timed = any(one.latency_us is not None for one in found.results)
    limit = found.limit if found.limit is not None and found.limit.bound != "unknown" else None
    parts = [
        markup.element("p", "verdict", escape(found.headline)),
        results(found, markup, _rows(found.results), found.targets[:_TARGETS]),
        _left_out(found, markup),
        _error(report, markup),
        # The verdict says already that nothing is measured.
        _line("C++ wrapper?", found.wrapper.headline if found.wrapper and timed else "", markup),
        _line("What limits a call?", limit.headline if limit else "", markup),
        _counts(report, found, markup),
        _foot(report, markup, panel=panel),
    ]
    return "\n".join(part for part in parts if part)


def sections(report: Report, markup: Markup, limits: Limits, depth: Sequence[str]) -> str:
    """Return what opens below the answer where no panel shows it, each part folded.

    Parameters
    ----------
    report, markup, limits
        What to show, how, and how much of it.
    depth
        What the report holds beside its overview and problems, as markup.
    """
    found = conclude(report)
    number = len(summary.problems(report))
    rest = follows(found, markup, counts=False)
    changes = wording.count(len(found.suggestions), "suggestion") if found.suggestions else ""
    shown = [
        details(wording.count(number, "problem"), problems(report, markup, limits.problems), markup)
        if number
        else "",
        details(" · ".join(filter(None, ["The answers at length", changes])), rest, markup)
        if rest
        else "",
        details("Code, kernels, guards, settings", "\n".join(depth), markup) if depth else "",
    ]
    return "\n".join(part for part in shown if part)


def _rows(results: list[Result]) -> list[Result]:
    """Return the rows to show: eager and the fastest before others, the timed before the rest."""

    def rank(one: Result) -> int:
        if one.latency_us is None:
            return 2
        return 0 if one.best or one.speedup is None else 1

    first = sorted(results, key=rank)[:_ROWS]
    return [one for one in results if one in first]


def _left_out(found: Overview, markup: Markup) -> str:
    rows, targets = len(found.results) - _ROWS, len(found.targets) - _TARGETS
    told = [wording.count(rows, "more variant") if rows > 0 else ""]
    told += [wording.count(targets, "more target") if targets > 0 else ""]
    return _muted(" · ".join(filter(None, told)), markup)


def _error(report: Report, markup: Markup) -> str:
    """Return the worst problem where it is an error, which nobody should have to open."""
    worst = next(iter(summary.problems(report)), None)
    if worst is None or worst[1].severity != "error":
        return ""
    variant, problem = worst
    scope = f" in {escape(variant)}" if variant else ""
    told = " → ".join(filter(None, [problem.what, problem.remedy]))
    mark = markup.element("b", "bad", f"Error{scope}:")
    return markup.element("p", "answer two-lines", f"{mark} {escape(told)}", title=told)


def _line(title: str, text: str, markup: Markup) -> str:
    if not text:
        return ""
    told = f"{markup.element('b', '', escape(title))} {escape(text)}"
    return markup.element("p", "answer two-lines", told, title=text)


def _counts(report: Report, found: Overview, markup: Markup) -> str:
    told = [one.text for one in found.counts]
    number = len(summary.problems(report))
    return _muted(
        " · ".join([*told, *([wording.count(number, "problem")] if number else [])]), markup
    )


def _muted(text: str, markup: Markup) -> str:
    return markup.element("p", "answer muted two-lines", escape(text), title=text) if text else ""


def _foot(report: Report, markup: Markup, *, panel: bool) -> str:
    """Return what the report is of, after the button that opens it where there is a panel."""
    subject, here = report.subject, report.environment
    where = wording.place(subject.where)
    device = here.gpus[0] if here.gpus else here.cpu
    told = [subject.name + (f" ({subject.kind}, {where})" if where else f" ({subject.kind})")]
    told += [f"torch {here.torch}" if here.torch else "", device]
    hover = "\n".join([*subject.arguments, summary.environment(report)])
    of = markup.element(
        "span", "muted", escape(" · ".join(part for part in told if part)), title=hover
    )
    # The extension listens for clicks on it; where there is none it is never written.
    button = (
        f'<button type="button" data-compilescope-subject="{escape(subject.id)}"'
        f"{markup.attributes('button')}>Open in the panel</button> "
        if panel
        else ""
    )
    return markup.element("p", "answer two-lines", button + of)
