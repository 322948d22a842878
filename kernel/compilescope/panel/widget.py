"""The widget in the cell: a small script that requests the front end and shows it."""

from __future__ import annotations

import logging
from typing import Any

import anywidget
import msgspec
import traitlets

from ..comms.messages import FromWidget
from ..progress.interrupts import interrupt_main_thread
from ..report import Report
from ..views.html import report as html
from ..views.text import report as text
from .channel import Channel
from .front_end import Page
from .service import PanelService

HEIGHT = 720
"""The initial height of the panel (px)."""

_NOTE = "The panel of this report was here: it needs a notebook that runs widgets, and its kernel."

_log = logging.getLogger(__name__)


class PanelWidget(anywidget.AnyWidget):
    """A report's panel.

    Where widgets do not run (nbconvert, GitHub) its output is the report as it was when the panel
    was shown; below the report itself it is a note.

    Parameters
    ----------
    relay
        The script that shows the front end.
    report
        What the panel shows.
    page
        The front end.

    Attributes
    ----------
    service
        Answers what the panel asks; None where the page holds its report itself.
    is_below_report
        Whether the report is an output of the same cell.
    """

    page = traitlets.Unicode().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)

    def __init__(self, relay: str, report: Report, page: Page) -> None:
        self._esm = relay
        self._report = report
        self._page = page
        self.service: PanelService | None = None
        self.is_below_report = False
        super().__init__(page=page.key, title=f"compilescope: {report.subject.name}")
        self.channel = Channel(self)
        self.on_msg(self._receive)

    def _receive(self, _: object, content: Any, buffers: object) -> None:
        """Handle a message of the panel; what makes no sense is for the kernel's log."""
        try:
            message = msgspec.convert(content, FromWidget)
        except msgspec.ValidationError:
            _log.warning("A message of the panel is invalid.", exc_info=True)
            return
        self.channel.note_request()
        if message.kind == "page":
            self.channel.page(self._page)
        elif message.kind == "interrupt":
            interrupt_main_thread()
        elif self.service is not None and message.request is not None:
            self.service.answer(message.request)

    def __str__(self) -> str:
        return text.render(self._report)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if self.is_below_report:
            fallback = {"text/plain": _NOTE, "text/html": f"<p>{_NOTE}</p>"}
        else:
            fallback = {"text/plain": str(self), "text/html": html.render(self._report)}
        return {**(data or {}), **fallback}, metadata
