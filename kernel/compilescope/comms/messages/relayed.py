"""Messages between the kernel and a panel in a cell's output: the comms', over a widget."""

from __future__ import annotations

from typing import Any, Literal

from .envelopes import Message


class FromWidget(Message):
    """From a panel in a cell's output."""

    kind: Literal["page", "request", "interrupt"]
    """``page`` asks for the front end, ``interrupt`` interrupts the main thread."""
    request: dict[str, Any] | None = None
    """A `Request`, if the kind is ``request``."""


class ToWidget(Message):
    """To a panel in a cell's output, or to all views of it that are open."""

    kind: Literal["page", "reply", "event"]
    data: dict[str, Any] = {}
    """A `PagePart`, whose bytes are the message's buffer; a `Reply` or `ReplyPart`; an `Event`."""


class PagePart(Message):
    """A piece of the front end, an HTML page compressed with gzip."""

    key: str
    """Identifies the page: the same key means the same page."""
    part: int
    """The number of this part, counted from 0."""
    parts: int
