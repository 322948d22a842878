"""Records that torch logged and no view reads, kept unchanged so that a trace loses nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from ..capture.records import Record
from ..report import Compilation, Language, RawEvent
from ..torch_api.trace.record_names import (
    CHROMIUM_EVENT,
    DYNAMO_START,
    GRAPH_BREAK_REASON,
    GUARDS,
    OUTPUT_CODE,
    RECOMPILE_REASONS,
)
from .graphs.stages import STAGE_OF

_READ = {
    "str",
    CHROMIUM_EVENT,
    DYNAMO_START,
    GRAPH_BREAK_REASON,
    RECOMPILE_REASONS,
    "triton_kernel_info",
    "inductor_provenance_tracking_node_mappings",
}
"""Events of which everything is shown somewhere, in every attempt."""
_GRAPHS = {
    *STAGE_OF,
    "before_post_grad_graph",
    "inductor_post_grad_graph",
    "after_post_grad_graph",
}
_PYTHON = ("graph", "code", "runnable", "exported_program", "export")


def unread(
    records: Sequence[Record], compilation: Compilation, final: Collection[Record]
) -> list[RawEvent]:
    """The records of a compilation that no other part of the report shows, in torch's order.

    Parameters
    ----------
    records
        The compilation's, of all attempts.
    compilation
        What was made of them.
    final
        Those of the attempt that the compilation shows.
    """
    shown = {graph.text for graph in compilation.graphs.values()}
    if compilation.code.aot is not None:
        shown.add(compilation.code.aot)
    read = {id(record) for record in final if record.name == OUTPUT_CODE}
    guards = [record for record in records if record.name == GUARDS and record.payload]
    read |= {id(record) for record in guards[-1:]}
    events: dict[str, RawEvent] = {}
    for record in records:
        if id(record) in read or _is_read(record, shown):
            continue
        _add(events, record)
    return list(events.values())


def _is_read(record: Record, shown: set[str]) -> bool:
    name = record.name
    if name in _GRAPHS or record.event == "graph_dump":
        return record.payload in shown
    return name in _READ or name.startswith("compilescope_")


def _add(events: dict[str, RawEvent], record: Record) -> None:
    name = _title(record)
    detail = record.metadata.get(record.event)
    if record.payload is not None:
        text = record.payload
        while name in events:
            name = _next(name)
        events[name] = RawEvent(
            name=name,
            attempt=record.attempt,
            size_bytes=len(text.encode()),
            language=_language(record, detail),
            text=text,
        )
        return
    # Short ones come by the hundred: one line each, under one name.
    line = msgspec.json.encode(detail, enc_hook=repr).decode() + "\n"
    event = events.setdefault(name, RawEvent(name=name, count=0, attempt=record.attempt))
    event.count += 1
    event.size_bytes += len(line.encode())
    event.text += line


def _title(record: Record) -> str:
    """The artifact's name, that of a file torch dumped, or the event's type."""
    detail = record.metadata.get(record.event)
    named = detail.get("name") if isinstance(detail, dict) else None
    if record.event in ("graph_dump", "dump_file", "optimize_ddp_split_child") and named:
        return f"{record.event} {named}"
    return record.name or record.event


def _next(name: str) -> str:
    """``x`` → ``x (2)`` → ``x (3)``."""
    head, _, number = name.removesuffix(")").rpartition(" (")
    return f"{head} ({int(number) + 1})" if head and number.isdecimal() else f"{name} (2)"


def _language(record: Record, detail: Any) -> Language:
    if isinstance(detail, dict) and detail.get("type") == "cpp":
        return "cpp"
    if isinstance(detail, dict) and detail.get("encoding") == "json":
        return "text"
    return "python" if any(record.name.endswith(word) for word in _PYTHON) else "text"
