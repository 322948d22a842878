"""torch's structured trace as records, while it happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..torch_api.trace import Event, listening
from .records import Record


@contextmanager
def recording(records: list[Record], *, shared: bool = False) -> Iterator[None]:
    """Appends what torch traces in this context to ``records`` while the block runs.

    ``shared`` as in `torch_api.trace.listening`.
    """
    with listening(lambda event: records.append(record_of(event)), shared=shared):
        yield


def record_of(event: Event) -> Record:
    """The record of an event that has its names."""
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
