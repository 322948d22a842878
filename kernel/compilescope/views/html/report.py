"""The report as HTML: in a cell, in nbconvert and on GitHub, or as a page of its own."""

from __future__ import annotations

from html import escape

from ... import extras
from ...report import Report, conclude
from .. import wording
from ..limits import CELL, FULL, Limits
from ..summary import environment
from ..wrapper_pairs import as_written, compilations
from .cell import answer, sections
from .changes import changes
from .code import wrappers
from .cold import cold
from .compilations import compilation_details
from .overview import follows, result
from .package import package
from .ranks import cuda_graphs, rank
from .routes import loads, routes
from .steps import steps
from .style import Markup, style_sheet
from .summary import details, deviations, problems, variants
from .sweep import sweep
from .target import targets
from .watch import watched


def render(
    report: Report,
    *,
    full: bool = False,
    panel: bool = False,
    left: str | None = None,
    right: str | None = None,
    name: str = "report",
) -> str:
    """Return a report as HTML without scripts and without anything from outside.

    Parameters
    ----------
    report
        What to show.
    full
        False: a fragment for a cell, with inline styles, in which long texts are cut and say so.
        True: a whole page with everything, which follows the reader's light or dark scheme.
    panel
        Whether a panel shows the rest of the report: then a cell holds the answer alone.
    left, right
        The variants whose wrappers stand side by side; by default the first with a Python wrapper
        and the first with a C++ wrapper.
    name
        The variable that holds the report, for the notes that say how to see all.
    """
    markup = Markup(page=full)
    limits = FULL if full else CELL
    hint = f'{name}.save("report.html")'
    if report.subject.kind == "watch":
        body = markup.element("div", "root", watched(report, markup, limits, hint))
        return _page(report, body) if full else body
    if full:
        found = conclude(report)
        parts = [
            _head(report, markup),
            result(found, markup),
            problems(report, markup, limits.problems),
            follows(found, markup),
            *_parts(report, markup, limits, hint, left=left, right=right),
        ]
    elif panel:
        parts = [answer(report, markup, panel=True)]
    else:
        depth = _parts(report, markup, limits, hint, left=left, right=right)
        parts = [answer(report, markup, panel=False), sections(report, markup, limits, depth)]
    told = "\n".join(part for part in parts if part)
    if full:
        return _page(report, markup.element("div", "root", told))
    return markup.element("div", "root scroll", markup.element("div", "least", told))


def _parts(
    report: Report,
    markup: Markup,
    limits: Limits,
    hint: str,
    *,
    left: str | None,
    right: str | None,
) -> list[str]:
    """What stands below the overview: in a cell folded, in a page in full."""
    found = compilations(report)
    missed = extras.missed("pygments")
    parts = [
        markup.element("p", "line", escape(missed)) if missed else "",
        rank(report, markup),
        variants(report, markup),
        sweep(report.sweep, markup) if report.sweep is not None else "",
        deviations(report, markup),
        cuda_graphs(report, markup),
        changes(report, markup),
        routes(report, markup),
        loads(report, markup),
        steps(report, markup),
        cold(report, markup),
        package(report, markup),
        targets(report, markup, limits, hint),
        wrappers(report, markup, limits, hint, left=left, right=right),
        *(compilation_details(*one, markup, limits, hint) for one in found[: limits.compilations]),
    ]
    if len(found) > limits.compilations:
        left_out = wording.count(len(found) - limits.compilations, "more compilation")
        parts.append(markup.element("p", "gap", f"{left_out}: <code>{escape(hint)}</code>"))
    written = as_written(report)
    if written:
        inside = "".join(compilation_details(*one, markup, limits, hint) for one in written)
        count = wording.count(len(written), "compilation")
        parts.append(details(f"<b>Compiled by the cell itself</b> · {count}", inside, markup))
    return [part for part in parts if part]


def _head(report: Report, markup: Markup) -> str:
    subject = report.subject
    where = f"{subject.kind}, {wording.place(subject.where)}" if subject.where else subject.kind
    lines = [f"{escape(subject.name)} {markup.element('span', 'muted', escape(f'({where})'))}"]
    title = markup.element("p", "title", lines[0])
    told = [escape(argument) for argument in subject.arguments[:_ARGUMENTS]]
    if len(subject.arguments) > len(told):
        told.append(wording.count(len(subject.arguments) - len(told), "more argument"))
    made = f'<span title="{escape(environment(report))}">{escape(_made(report))}</span>'
    line = markup.element("p", "line", " · ".join([*told, made]))
    return title + line


_ARGUMENTS = 4


def _made(report: Report) -> str:
    """Where the report was made, in a few words; all of them stand behind it."""
    here = report.environment
    device = here.gpus[0] if here.gpus else here.cpu
    return " · ".join(
        part for part in (f"torch {here.torch}" if here.torch else "", device) if part
    )


def _page(report: Report, body: str) -> str:
    title = escape(f"{report.subject.name} - compilescope")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>\n{style_sheet()}</style></head>\n"
        f"<body><main>{body}</main></body></html>\n"
    )
