"""A widget's messages as a connection to its panel."""

from __future__ import annotations

import contextvars
from typing import Any, Protocol

from ..comms.clients import to_builtins
from ..comms.messages import ToWidget
from ..comms.reply_parts import in_parts
from .front_end import Page


class Sender(Protocol):
    """What is used of a widget."""

    comm: Any

    def send(self, content: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        """Sends a message to all views of the widget."""


class Channel:
    """The way to the views of one widget.

    ipykernel 7.4 has a comm's next message handled by the shell that published on it last. A widget
    has one comm for requests and for events, and events come from the main thread while a job runs:
    the panel's next request would wait for that job. So events are published as if by the request
    that was answered last, and the widget itself as if by nobody.

    Parameters
    ----------
    widget
        Whose messages these are.
    """

    def __init__(self, widget: Sender) -> None:
        self._widget = widget
        self._request_context = contextvars.Context()
        if (opened := vars(widget.comm)).get("_reply_subshell_id", "") is None:
            # By the cell's thread, for which the first request would wait.
            del opened["_reply_subshell_id"]

    def note_request(self) -> None:
        """A request is being handled, in this context."""
        self._request_context = contextvars.copy_context()

    def page(self, page: Page) -> None:
        """Sends the front end."""
        for part, piece in page.parts():
            self._widget.send(to_builtins(ToWidget(kind="page", data=to_builtins(part))), [piece])

    def reply(self, reply: dict[str, Any]) -> None:
        """Answers a request."""
        for message in in_parts(reply):
            self._widget.send(to_builtins(ToWidget(kind="reply", data=message)))

    def send(self, event: dict[str, Any], /) -> None:
        """Sends an event."""
        message = to_builtins(ToWidget(kind="event", data=event))
        self._request_context.copy().run(self._widget.send, message)
