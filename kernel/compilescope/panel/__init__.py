"""The panel in a cell's output, in any notebook that shows widgets: `Report.panel`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import extras
from ..report import Report, panels
from ..report.errors import CompilescopeError

if TYPE_CHECKING:
    from .widget import PanelWidget


def panel(report: Report) -> PanelWidget:
    """A report's panel: see `Report.panel`.

    Raises
    ------
    CompilescopeError
        anywidget is not installed, or compilescope was installed without its front end.
    """
    if missed := extras.missed("anywidget"):
        raise CompilescopeError(missed)
    from . import opening  # anywidget takes a while to import

    return opening.widget(report)


def panel_below(report: Report) -> PanelWidget:
    """A report's panel for a cell that shows the report, too: see `panel`."""
    shown = panel(report)
    shown.is_below_report = True
    return shown


def has_front_end() -> bool:
    """Whether `Report.panel` has what it takes: anywidget, and compilescope's front end."""
    from ..views import saved_page

    return not extras.missed("anywidget") and saved_page.relay() is not None


# `Report.panel` stands below and cannot import this: importing this package is what gives it one.
panels["widget"] = panel
