"""The report as HTML: in a cell, in nbconvert and on GitHub, or as a standalone page."""

from __future__ import annotations

from markupsafe import Markup

from ... import extras
from ...report import Report, conclude
from ..cell_limits import CELL, FULL
from ..wrapper_pairs import pairs
from .cell_summary import summarize
from .style import style_sheet
from .templating import render as render_template


def render(
    report: Report,
    *,
    full: bool = False,
    panel: bool = False,
    linked: bool = False,
    left: str | None = None,
    right: str | None = None,
    name: str = "report",
    notice: Markup | None = None,
) -> str:
    """Return a report as HTML without scripts and external resources.

    Parameters
    ----------
    report
        What to show.
    full
        False: a fragment for a cell, with inline styles, in which long texts are cut and say so.
        True: a whole page with everything, which follows the reader's light or dark scheme.
    panel
        Whether a panel shows the rest of the report: a cell then has only the summary, with a
        button that opens the panel.
    linked
        Whether a cell has that button although the rest of the report follows.
    left, right
        The variants whose wrappers stand side by side; by default as `wrapper_pairs.pairs` says.
    name
        The variable that holds the report, for lines with the next steps.
    notice
        A text at the top of a whole page.
    """
    return render_template(
        "page.html" if full else "cell.html",
        page=full,
        panel=panel,
        linked=linked,
        report=report,
        overview=conclude(report),
        cell_summary=summarize(report),
        limits=FULL if full else CELL,
        name=name,
        hint=f'{name}.save("report.html")',
        missed=extras.missed("pygments"),
        wrapper_pairs=pairs(report, left, right),
        notice=notice or "",
        style_sheet=Markup(style_sheet()) if full else "",
    )


def render_sweep(report: Report) -> str:
    """Return a report's sweep as a fragment for a cell, with inline styles."""
    return render_template("sweep_cell.html", report=report)
