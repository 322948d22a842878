"""Displays a report in its cell: progress first, then the report, kept up to date."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from IPython import display

from .. import extras, ipython_shell
from ..report import Report
from .html import report as html
from .progress import Line
from .text import report as text

_display: Any = display.display
"""``display.display``, which IPython does not annotate."""

if TYPE_CHECKING:
    from ..progress.progress import Progress
    from ..session.session import Session


class Display:
    """A place in the cell's output. Use it as a context around the work.

    The report is a separate output, plain HTML and text, that is replaced in place. The switches
    are a widget above it: where widgets do not run (nbconvert, GitHub, a notebook without its
    kernel) they disappear and the report stays.

    Parameters
    ----------
    session
        The session that performs the switches' requests.
    name
        The variable that holds the report, for the notes that say how to see more.
    switches
        Whether to show the switches where ipywidgets is installed and there is no panel.
    panel
        Whether a panel is connected, which has the switches and the depth: the output is then only
        the summary. Called for every output, since a panel may connect later.
    output
        Creates the output that a notebook shows for the report.
    below
        Creates a panel, which is shown below the report if none is connected by then. The report
        remains where widgets do not run.
    """

    def __init__(
        self,
        session: Session,
        *,
        name: str = "report",
        switches: bool = True,
        panel: Callable[[], bool] = lambda: False,
        output: Callable[[Report], Any] | None = None,
        below: Callable[[Report], Any] | None = None,
    ) -> None:
        self._session = session
        self._name = name
        self._kernel = ipython_shell.kernel() is not None
        self._panel = panel
        self._output = output
        self._below = below
        self._switches = switches and self._kernel and not panel()
        self._line = Line()
        self._shown = False

    def __enter__(self) -> Display:
        if self._switches:
            self._switches = self._place_switches()
        self._line.start()
        return self

    def progress(self, now: Progress) -> None:
        """Show the step that begins."""
        self._line.show(now)

    def show(self, report: Report, left: str | None = None, right: str | None = None) -> None:
        """Show a report in place of the previous output; ``left`` and ``right`` as for `render`."""
        first, self._shown = not self._shown, True
        self._line.clear()
        if self._line.handle is None:
            width, color = shutil.get_terminal_size((100, 24)).columns, sys.stdout.isatty()
            sys.stdout.write(text.render(report, width=width, color=color, name=self._name) + "\n")
            return
        if self._output is not None:
            self._line.handle.update(self._output(report))
            return
        panel = self._panel()
        shown = html.render(report, panel=panel, left=left, right=right, name=self._name)
        self._line.handle.update(
            {
                "text/html": shown,
                "text/plain": text.render(report, name=self._name),
            },
            raw=True,
        )
        if first and self._switches and not panel:
            self._box.fill(report, self._session, self.show)
        if first and self._below is not None and not panel:
            _display(self._below(report))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._line.clear()
        # Instead of the progress: the error itself, or the interrupt, is shown below it.
        if kind is not None and not self._shown and self._line.handle is not None:
            self._line.handle.update({"text/plain": "", "text/html": ""}, raw=True)

    def _place_switches(self) -> bool:
        try:
            from .report_switches import ReportWidget
        except ImportError:
            _display({"text/plain": extras.missed("ipywidgets")}, raw=True)
            return False
        self._box = ReportWidget()
        _display(self._box)
        return True
