"""A TORCH_TRACE file → records.

Each record is a line in glog's form, ``V1120 09:26:30.766000 8670 torch/_dynamo/utils.py:2350]``,
with the metadata in JSON behind it; the payload follows, a tab before each of its lines. File names
are interned: ``{"str": ["/path.py", 0]}`` says what 0 stands for from then on.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..problem import Problem
from .records import Record

_MOST_PROBLEMS = 20
_HEAD = re.compile(
    rb"(?:\[rank\d+\]: ?)?[A-Z](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) (\d+) \S.*?:\d+\] (.*)$",
    re.S,
)
_QUARTER_HOUR = 900.0


class TraceLog(msgspec.Struct):
    """What a trace file holds."""

    records: list[Record]
    problems: list[Problem] = []
    """Lines that could not be read; the rest is whole."""


class _Raw(NamedTuple):
    line: int
    """Where the record begins, from 1."""
    head: re.Match[bytes] | None
    text: bytes
    payload: list[bytes]


def read(path: str | Path) -> TraceLog:
    """Read a trace.

    Parameters
    ----------
    path
        A file that torch wrote because of ``TORCH_TRACE``, plain or compressed with gzip.

    Returns
    -------
    TraceLog
        Damaged and cut-off records are left out or marked by a problem; they never raise.

    Raises
    ------
    OSError
        The file cannot be opened.
    """
    path = Path(path)
    data, cut = _decompress(path.read_bytes())
    problems = _Problems(path.name)
    if cut:
        problems.add(0, "The compressed file ends too early or is damaged.", b"")
    records: list[Record] = []
    interned: dict[int, str] = {}
    year = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).year
    for raw in _split(data):
        record = _record(raw, interned, year, problems)
        if record is not None:
            records.append(record)
    if not records and data.strip():
        problems.found.insert(0, _no_trace(path.name))
    return TraceLog(_true_times(records), problems.found)


def _no_trace(name: str) -> Problem:
    return Problem(
        severity="error",
        what=f"{name} is no trace.",
        why="No line of it is a record of torch's structured trace.",
        remedy="Choose a file that torch wrote into the folder that TORCH_TRACE named.",
    )


def _decompress(data: bytes) -> tuple[bytes, bool]:
    """The plain bytes, and whether some are missing."""
    if not data.startswith(b"\x1f\x8b"):
        return data, False
    parts = []
    while data.startswith(b"\x1f\x8b"):
        stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            # Piece by piece: what comes before the damage is kept.
            for start in range(0, len(data), 1 << 16):
                parts.append(stream.decompress(data[start : start + (1 << 16)]))
                if stream.eof:
                    data = stream.unused_data + data[start + (1 << 16) :]
                    break
        except zlib.error:
            return b"".join(parts), True
        if not stream.eof:
            return b"".join(parts), True
    return b"".join(parts), False


def _split(data: bytes) -> Iterator[_Raw]:
    """Gather each record's line and its payload's lines."""
    current: _Raw | None = None
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    for number, line in enumerate(lines, start=1):
        if line.startswith(b"\t") and current is not None:
            current.payload.append(line[1:])
            continue
        if current is not None:
            yield current
        current = _Raw(number, _HEAD.match(line), line, [])
    if current is not None:
        yield current


def _record(raw: _Raw, interned: dict[int, str], year: int, problems: _Problems) -> Record | None:
    if raw.head is None:
        if raw.text.strip():
            problems.add(raw.line, "A line is no trace record.", raw.text)
        return None
    *stamp, thread, text = raw.head.groups()
    try:
        metadata = json.loads(text)
        event = next(iter(metadata))
        time_s = _seconds(year, *map(int, stamp))
    except (ValueError, TypeError, StopIteration, RecursionError) as error:
        problems.add(raw.line, f"A record cannot be read: {error}", raw.text)
        return None
    if not isinstance(metadata, dict):
        problems.add(raw.line, "A record's metadata is no object.", raw.text)
        return None
    if event == "str":
        _intern(metadata["str"], interned)
    payload: str | None = None
    if "has_payload" in metadata or raw.payload:
        joined = b"\n".join(raw.payload)
        payload = joined.decode("utf-8", "replace")
        expected = metadata.get("has_payload")
        if isinstance(expected, str) and hashlib.md5(joined).hexdigest() != expected:
            problems.add(
                raw.line, f"The payload of a record ({event}) is not what torch wrote.", raw.text
            )
    return Record(
        event=str(event),
        metadata=_named(metadata, interned),
        payload=payload,
        compile_id=_compile_id(metadata),
        attempt=_integer(metadata.get("attempt")),
        time_s=time_s,
        thread=int(thread),
    )


def _seconds(year: int, *parts: int) -> float:
    month, day, hour, minute, second, micro = parts
    moment = datetime(year, month, day, hour, minute, second, micro, timezone.utc)
    return moment.timestamp()


def _intern(detail: Any, interned: dict[int, str]) -> None:
    if isinstance(detail, list) and len(detail) == 2 and isinstance(detail[1], int):
        interned[detail[1]] = str(detail[0])


def _named(value: Any, interned: dict[int, str]) -> Any:
    """The value with every interned file name turned back into text."""
    if isinstance(value, dict):
        return {
            key: interned.get(item, str(item))
            if key == "filename" and isinstance(item, int)
            else _named(item, interned)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_named(item, interned) for item in value]
    return value


def _compile_id(metadata: dict[str, Any]) -> str | None:
    frame, attempt = metadata.get("frame_id"), metadata.get("frame_compile_id")
    return None if frame is None or attempt is None else f"{frame}/{attempt}"


def _integer(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _true_times(records: list[Record]) -> list[Record]:
    """Set the records' clock right by the first event that says its time in full.

    The lines name neither the year nor the time zone; timing events carry seconds since the epoch.
    """
    for record in records:
        if record.event != "chromium_event" or not record.payload:
            continue
        try:
            true = float(json.loads(record.payload)["ts"]) / 1e6
        except (ValueError, KeyError, TypeError):
            continue
        shift = round((true - record.time_s) / _QUARTER_HOUR) * _QUARTER_HOUR
        if not shift:
            break
        return [msgspec.structs.replace(r, time_s=r.time_s + shift) for r in records]
    return records


class _Problems:
    """Collects problems; of very many only the first ones are told apart."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.found: list[Problem] = []
        self.more = 0

    def add(self, line: int, what: str, text: bytes) -> None:
        if len(self.found) >= _MOST_PROBLEMS:
            self.more += 1
            self.found[-1].what = f"{self.more + 1} more lines of {self.name} cannot be read."
            return
        self.found.append(
            Problem(
                severity="warning",
                what=what,
                why=f"{self.name}, line {line}." if line else f"{self.name}.",
                remedy="The rest of the file is shown. Record or copy the trace again to have all.",
                detail=text[:500].decode("utf-8", "replace"),
            )
        )
