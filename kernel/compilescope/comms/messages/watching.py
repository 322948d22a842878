"""Messages to watch what the notebook compiles."""

from __future__ import annotations

from .envelopes import Message


class SetWatch(Message):
    """Turns watching on or off."""

    on: bool
    clear: bool = False
    """Whether to clear the recorded compilations first."""
