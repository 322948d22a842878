"""A report in the cell that made it: progress first, then the report, kept up to date."""

from __future__ import annotations

import shutil
import sys
import time
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any

from IPython import display

from ..report import Report
from . import html, shell, text

_handle: Any = display.DisplayHandle
_display: Any = display.display
"""Both are without types in IPython."""

if TYPE_CHECKING:
    from ..compiler.progress import Progress
    from ..session import Session

_TICK_S = 0.1
"""At most ten messages a second: steps of a fast compilation would only flicker."""


class Display:
    """A place in the cell's output. Use it as a context around the work.

    The report is an output of its own, plain HTML and text, that is replaced in place. The switches
    are a widget above it: where widgets do not run (nbconvert, GitHub, a notebook without its
    kernel) they drop out and the report still stands.

    Parameters
    ----------
    session
        Does what the switches ask for.
    name
        The variable that holds the report, for the notes that say how to see more.
    switches
        Whether to show the switches where ipywidgets is installed.
    """

    def __init__(self, session: Session, *, name: str = "report", switches: bool = True) -> None:
        self._session = session
        self._name = name
        self._kernel = shell.kernel() is not None
        self._switches = switches and self._kernel
        self._handle: Any = None
        self._shown = False
        self._ticked = 0.0

    def __enter__(self) -> Display:
        if self._switches:
            self._switches = self._place_switches()
        if self._kernel:
            self._handle = _handle()
            self._handle.display(_progress("starting", None), raw=True)
        return self

    def progress(self, now: Progress) -> None:
        """Show the step that begins."""
        if time.monotonic() - self._ticked < _TICK_S:
            return
        self._ticked = time.monotonic()
        step = f"{now.variant}: {now.step}" if now.variant else now.step
        if self._handle is not None:
            self._handle.update(_progress(step, now.fraction), raw=True)
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{step} …")
            sys.stderr.flush()

    def show(self, report: Report, left: str | None = None, right: str | None = None) -> None:
        """Show a report in place of what was there; ``left`` and ``right`` as for `html.render`."""
        first, self._shown = not self._shown, True
        self._clear_line()
        if self._handle is None:
            width, color = shutil.get_terminal_size((100, 24)).columns, sys.stdout.isatty()
            sys.stdout.write(text.render(report, width=width, color=color, name=self._name) + "\n")
            return
        self._handle.update(
            {
                "text/html": html.render(report, left=left, right=right, name=self._name),
                "text/plain": text.render(report, name=self._name),
            },
            raw=True,
        )
        if first and self._switches:
            self._box.fill(report, self._session, self.show)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._clear_line()
        if kind is not None and not self._shown and self._handle is not None:
            self._handle.update({"text/plain": "The inspection did not finish."}, raw=True)

    def _place_switches(self) -> bool:
        try:
            from .widget import ReportWidget
        except ImportError:  # without ipywidgets the report is all there is
            return False
        self._box = ReportWidget()
        _display(self._box)
        return True

    def _clear_line(self) -> None:
        if self._handle is None and sys.stderr.isatty():
            sys.stderr.write("\r\033[K")


def _progress(step: str, fraction: float | None) -> dict[str, str]:
    value = "" if fraction is None else f' value="{fraction:.3f}" max="1"'
    percent = "" if fraction is None else f" ({fraction:.0%})"
    bar = f'<progress{value} aria-label="progress of the inspection"></progress>'
    return {"text/html": f"{bar} {escape(step)}", "text/plain": f"{step}{percent} …"}
