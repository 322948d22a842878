"""Compile ids as a fresh process would count them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import msgspec

from ..torch_api.trace.numbering import Numbering
from ..torch_api.trace.record_names import CHROMIUM_EVENT, RECOMPILE_REASONS
from .logged_values import decoded
from .records import Record

_ID = re.compile(r"(?:!\d+/)?\b\d+/\d+\b")


def renumber(records: Sequence[Record]) -> list[Record]:
    """The records with frames and each frame's compilations numbered from 0.

    torch's numbering spans the whole process, and a frame that was compiled before keeps its
    number. Numbered by first appearance, the same frame of every variant of a subject has the same
    id.
    """
    ids = numbers(records)
    return [renamed(record, ids) for record in records]


def numbers(records: Sequence[Record]) -> dict[str, str]:
    """Compile ids of torch → those of `renumber`; compiled autograd's in both of their forms."""
    numbering = Numbering()
    of_autograd: dict[str, str] = {}
    for record in records:
        if record.compile_id is not None:
            shown = numbering.add(record.compile_id)
            autograd = record.metadata.get("compiled_autograd_id")
            if autograd is not None:
                of_autograd[f"!{autograd}/{record.compile_id}"] = shown
    return {**of_autograd, **numbering.ids}


def without_autograd(record: Record) -> Record:
    """The record with the compile id that others have, if it is a span of compiled autograd.

    torch writes ``!0/2/1`` into spans for the compilation 2/1 within compiled autograd's first one.
    """
    payload = record.payload
    if record.event != CHROMIUM_EVENT or payload is None or '"compile_id": "!' not in payload:
        return record
    return msgspec.structs.replace(record, payload=_OF_AUTOGRAD.sub(r"\1\2", payload))


_OF_AUTOGRAD = re.compile(r'("compile_id": ")!\d+/(\d+/\d+")')


def renamed(record: Record, ids: dict[str, str]) -> Record:
    """The record under another compile id; ``ids`` are the old ones → the new ones.

    Other ids stay: in a damaged trace, heads are parsed more strictly than records.
    """
    payload = record.payload
    if record.event == CHROMIUM_EVENT and payload is not None:
        payload = _renamed_span(payload, ids)
    if record.name == RECOMPILE_REASONS and payload is not None:
        payload = _ID.sub(lambda match: ids.get(match.group(), match.group()), payload)
    if record.compile_id is None:
        return msgspec.structs.replace(record, payload=payload)
    name = ids.get(record.compile_id, record.compile_id)
    metadata = record.metadata
    if "/" in name:
        frame, compilation = name.split("/")[-2:]
        metadata = {**metadata, "frame_id": int(frame), "frame_compile_id": int(compilation)}
    return msgspec.structs.replace(record, compile_id=name, metadata=metadata, payload=payload)


def _renamed_span(payload: str, ids: dict[str, str]) -> str:
    """Spans carry their compile id in the payload; the record's own is often missing."""
    try:
        event = decoded(payload)
    except (ValueError, RecursionError):
        return payload
    arguments = event.get("args") if isinstance(event, dict) else None
    if not isinstance(arguments, dict):
        return payload
    name = arguments.get("compile_id")
    if not isinstance(name, str) or ids.get(name, name) == name:
        return payload
    arguments["compile_id"] = ids[name]
    return json.dumps(event)
