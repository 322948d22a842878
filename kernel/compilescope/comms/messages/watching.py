"""Messages to watch the notebook's compilations."""

from __future__ import annotations

from .envelopes import Message


class SetWatch(Message):
    """Turns watching on or off."""

    on: bool
    clear: bool = False
    """Whether to clear the recorded compilations first."""
