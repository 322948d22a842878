"""torch's structured trace, one record at a time.

A record is one event of ``torch._logging._internal.trace_structured``: live from a handler
(`live`), or a line of a TORCH_TRACE file. Everything in `analysis` starts from a list of these.
"""

from __future__ import annotations

from typing import Any

import msgspec

NO_COMPILE_ID = "(no id)"
"""The compile id for records without one."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One structured-trace event.

    ``metadata`` is torch's own, with interned file names already turned back into text. ``payload``
    is the event's text, or None. ``time_s`` is seconds since the epoch.
    """

    event: str
    """The event's type: the first key of the metadata (``dynamo_output_graph``, ``artifact``)."""
    metadata: dict[str, Any]
    payload: str | None = None
    compile_id: str | None = None
    """``frame_id/frame_compile_id``, or None for events outside a compilation."""
    attempt: int = 0
    time_s: float = 0.0
    thread: int = 0

    @property
    def name(self) -> str:
        """The artifact's name for ``artifact`` events, else the event's type."""
        detail = self.metadata.get(self.event)
        if self.event == "artifact" and isinstance(detail, dict):
            return str(detail.get("name", ""))
        return self.event

    @property
    def detail(self) -> dict[str, Any]:
        """The event's own metadata; empty where a damaged trace holds no dictionary there."""
        detail = self.metadata.get(self.event)
        return detail if isinstance(detail, dict) else {}
