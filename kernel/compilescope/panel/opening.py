"""Opens a report's panel: connected if the kernel has its subject, else a saved page."""

from __future__ import annotations

from ..comms import endpoints
from ..report import Report
from ..report.errors import CompilescopeError
from ..session.lazy import session
from ..views import saved_page as pages
from .front_end import Page
from .service import PanelService
from .widget import PanelWidget


def widget(report: Report) -> PanelWidget:
    """The widget that shows a report.

    Raises
    ------
    CompilescopeError
        compilescope was installed without its front end.
    """
    relay, live = pages.relay(), pages.render_live()
    if relay is None or live is None:
        raise CompilescopeError(
            "There is no panel: this compilescope was installed without its front end.",
            "It is a source checkout that was not built.",
            "Run make setup, or install the wheel.",
        )
    current = session()
    inspection = current.inspections.get(report.subject.id)
    if inspection is None or inspection.report is not report:
        # Loaded from a file, say: it can be shown, but nothing can be measured.
        return PanelWidget(relay, report, Page(pages.render(report)))
    shown = PanelWidget(relay, report, Page(live))
    shown.service = PanelService(
        current, endpoints.start(current), report.subject.id, shown.channel
    )
    return shown
