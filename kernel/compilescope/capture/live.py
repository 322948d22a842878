"""Collects records from torch's structured trace while it is emitted."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..torch_api.trace.trace import Event, listening
from .records import Record


@contextmanager
def recording(
    records: list[Record],
    *,
    shared: bool = False,
    on_event: Callable[[str], None] = lambda event: None,
) -> Iterator[None]:
    """Appends the trace events of this context in the block to ``records``.

    ``shared`` as in `torch_api.trace.trace.listening`; ``on_event`` gets each event's name.
    """

    def keep(event: Event) -> None:
        record = record_of(event)
        records.append(record)
        on_event(record.name)

    with listening(keep, shared=shared):
        yield


def record_of(event: Event) -> Record:
    """The record of an event with complete names."""
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


def loaded_files() -> list[str]:
    """The files of the imported modules: guards name them in short form."""
    # Other threads may import meanwhile.
    files = [getattr(module, "__file__", None) for module in sys.modules.copy().values()]
    return [file for file in files if isinstance(file, str)]
