"""torch's structured trace as records, while it happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..torch_api.trace import Event, listening
from .records import Record


@contextmanager
def recording(records: list[Record]) -> Iterator[None]:
    """Appends what torch traces in this context to ``records`` while the block runs."""
    with listening(lambda event: records.append(_record(event))):
        yield


def _record(event: Event) -> Record:
    frame = event.metadata.get("frame_id")
    return Record(
        event=next(iter(event.metadata), ""),
        metadata=event.metadata,
        payload=event.payload,
        compile_id=None if frame is None else f"{frame}/{event.metadata.get('frame_compile_id')}",
        attempt=event.metadata.get("attempt") or 0,
        time_s=event.time_s,
        thread=event.thread,
    )
