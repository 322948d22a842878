"""A report as the value of a cell's last line."""

from __future__ import annotations

import sys

from ..report import Report
from .html import report as html


def render(report: Report) -> str:
    """Return a report's HTML, with a button that opens the panel where one shows the report."""
    return html.render(report, linked=_is_in_panel(report))


def _is_in_panel(report: Report) -> bool:
    # Importing the session imports torch; where nothing imported it, no report is live.
    if "compilescope.session.session" not in sys.modules:
        return False
    from ..session.session import get_session

    session = get_session()
    inspection = session.inspections.get(report.subject.id)
    return inspection is not None and inspection.report is report and session.is_shown()
