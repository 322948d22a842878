"""The kernel's side of a panel in a cell's output, with the same answers as the comms."""

from __future__ import annotations

import logging
import uuid
from typing import Any

from ..comms.endpoints import Endpoints
from ..session.session import Session
from ..views.main_thread import Main
from .channel import Channel

_log = logging.getLogger(__name__)


class PanelService:
    """Answers one panel, and tells it what happens to its subject.

    It starts jobs by itself, where the panel of JupyterLab executes code: a widget cannot.

    Parameters
    ----------
    session
        What there is to show.
    endpoints
        Answer requests.
    subject
        What the panel shows. It does not turn to what later cells inspect.
    channel
        The way to the panel.
    """

    def __init__(
        self, session: Session, endpoints: Endpoints, subject: str, channel: Channel
    ) -> None:
        self._session = session
        self._endpoints = endpoints
        self._subject = subject
        self._channel = channel
        self._name = uuid.uuid4().hex
        self._main = Main()

    def answer(self, request: dict[str, Any]) -> None:
        """Answer a request, and begin the work that it asks for."""
        self._endpoints.admit(self._name, self)
        reply = self._endpoints.answer(request)
        result = reply.get("result") or {}
        code = result.get("code")
        if code:
            result["code"] = ""
        if "subjects" in result:
            # A panel shows the first subject of the list.
            result["subjects"].sort(key=lambda summary: summary["subject"]["id"] != self._subject)
        self._channel.reply(reply)
        if code:
            self._main.call(self._work)

    def send(self, event: dict[str, Any], /) -> None:
        """Send an event to the panel."""
        data = event["data"]
        if event["event"] == "subjects_changed" and data["focus"] != self._subject:
            event = {**event, "data": {**data, "focus": None, "offer": None}}
        self._channel.send(event)

    def close(self) -> None:
        """Does nothing: a silent panel gets events again after its next request."""

    def _work(self) -> None:
        try:
            self._session.panel_jobs.run_pending()
        except KeyboardInterrupt:
            pass  # between two jobs: there was nothing to stop
        except Exception:  # noqa: BLE001 - the job's state says it; nobody above reads it
            _log.warning("A job of the panel ended in an error.", exc_info=True)
