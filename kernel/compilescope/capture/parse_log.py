"""Parses a TORCH_TRACE file into records.

Each record is a line in glog's form, ``V1120 09:26:30.766000 8670 torch/_dynamo/utils.py:2350]``,
followed by the metadata in JSON; the payload follows, with a tab before each of its lines. File
names are interned: ``{"str": ["/path.py", 0]}`` defines the meaning of 0 from then on. Damage
affects only its line: everything else is read, and lost lines are counted.
"""

from __future__ import annotations

import math
import re
from calendar import isleap
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..report.problem import Problem
from ..torch_api.trace.record_names import CHROMIUM_EVENT
from .decompress import unpack
from .logged_values import logged_count
from .record_heads import Block, checksum_of, without_tabs
from .records import Record

_LISTED = 20
"""The number of damaged lines of one kind whose text is kept."""
_NO_RECORD = "is not a trace record"
_PIECE_BYTES = 1 << 20
_LINE = re.compile(
    rb"^[A-Z](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) (\d+) [^\s\]][^\n\]]*?:\d+\] ([^\n]*)\n?",
    re.M,
)
_NO_PAYLOAD = re.compile(rb"\n(?![\t\r\n])")
"""The end of a line that is followed by no payload line and no blank one: the end of a record."""
_FOREIGN = re.compile(rb"\S[^\n]*")
"""A line from its first non-space character: a search that included the leading spaces would take
quadratic time."""
_RANK = re.compile(rb"^\[(?:default|rank)(\d+)\]: ?", re.M)
"""torchrun's prefix of each line if several processes write one file."""
_QUARTER_HOUR = 900.0
_NO_TIME = (
    msgspec.DecodeError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    RecursionError,
)


class TraceLog(msgspec.Struct):
    """The contents of a trace file."""

    records: list[Record]
    problems: list[Problem] = []
    """Problems for unreadable parts; the rest is complete."""
    rank: int | None = None
    """The process that wrote it, if each line names it."""
    others: list[TraceLog] = []
    """The logs of other processes in the same file."""


class _Raw(NamedTuple):
    line: int
    """The line where the record begins, from 1."""
    stamp: tuple[bytes, ...]
    head: bytes
    payload: bytes | None


def read(path: str | Path) -> TraceLog:
    """Read a trace.

    Parameters
    ----------
    path
        A file that torch wrote because of ``TORCH_TRACE``, plain or compressed with gzip or zstd.

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
    data, missing = unpack(path)
    problems = [missing] if missing is not None else []
    year = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).year
    logs = []
    for rank, text in by_rank(data):
        damages = DamagedLines(path.name if rank is None else f"{path.name} (rank {rank})")
        records = list(parse_records(text, {}, year, damages))
        logs.append(TraceLog(_true_times(records), damages.problems(), rank))
    with_records = [log for log in logs if log.records]
    if not with_records:
        if not problems and any(log.problems for log in logs):
            problems.append(no_trace(path.name))
        return TraceLog([], [*problems, *(problem for log in logs for problem in log.problems)])
    first = with_records[0]
    lost = [
        problem for log in logs if log is not first and not log.records for problem in log.problems
    ]
    return msgspec.structs.replace(
        first, problems=[*problems, *first.problems, *lost], others=with_records[1:]
    )


def parse_records(
    data: bytes, interned: dict[int, str], year: int, damages: DamagedLines
) -> Iterator[Record]:
    """Parse text that begins and ends with whole records.

    Parameters
    ----------
    data
        A log, or a part of it.
    interned
        File names by torch's number, from earlier text; gets those that this text defines.
    year
        The year in which it was written, which the lines lack.
    damages
        Collects the unreadable lines.
    """
    for raw in _split(data, damages):
        record = _record(raw, interned, year, damages)
        if record is not None:
            _check(raw, record, damages)
            yield record


def no_trace(name: str) -> Problem:
    """The problem of a file that holds no record."""
    return Problem(
        severity="error",
        what=f"{name} is not a trace.",
        why="No line of it is a record of torch's structured trace.",
        remedy="Choose a file that torch wrote into the folder that TORCH_TRACE named.",
    )


def names_ranks(data: bytes) -> bool:
    """Whether a line names the process that wrote it."""
    # The regular expression takes ten times as long.
    return (b"[default" in data or b"[rank" in data) and _RANK.search(data) is not None


def by_rank(data: bytes) -> list[tuple[int | None, bytes]]:
    """Each process's lines; lines that name no process belong to the line before."""
    if not names_ranks(data):
        return [(None, data)]
    parts: dict[int | None, list[bytes]] = {}
    rank: int | None = None
    for line in data.splitlines(keepends=True):
        match = _RANK.match(line)
        if match is not None:
            rank, line = int(match[1][:9]), line[match.end() :]
        parts.setdefault(rank, []).append(line)
    return [(rank, b"".join(lines)) for rank, lines in parts.items()]


def _split(data: bytes, damages: DamagedLines) -> Iterator[_Raw]:
    """Gather each record's line and its payload's lines."""
    start, line = 0, 1
    while start < len(data):
        head = _LINE.match(data, start)
        if head is None:
            following = _LINE.search(data, start)
            end = len(data) if following is None else following.start()
            _foreign(data, start, end, line, damages)
        else:
            payload_end = _NO_PAYLOAD.search(data, start)
            end = len(data) if payload_end is None else payload_end.end()
            text, payload = head[8], data[head.end() : end]
            if text.endswith(b"\r"):
                text, payload = text[:-1], payload.replace(b"\r\n", b"\n")
            has_payload = bool(payload.strip(b"\r\n"))
            yield _Raw(
                line, head.groups()[:7], text, without_tabs(payload) if has_payload else None
            )
        line += data.count(b"\n", start, end)
        start = end


def _foreign(data: bytes, start: int, end: int, line: int, damages: DamagedLines) -> None:
    """Count the lines that belong to no record."""
    listed = 0
    for match in islice(_FOREIGN.finditer(data, start, end), _LISTED):
        line += data.count(b"\n", start, match.start())
        damages.add(_NO_RECORD, line, match[0])
        start = match.end()
        listed += 1
    # The others are not listed: there may be millions.
    while listed == _LISTED and start < end:
        stop = min(start + _PIECE_BYTES, end)
        stop = data.find(b"\n", stop - 1, end) + 1 or end
        damages.count(_NO_RECORD, len(_FOREIGN.findall(data, start, stop)))
        start = stop


def _record(raw: _Raw, interned: dict[int, str], year: int, damages: DamagedLines) -> Record | None:
    *stamp, thread = raw.stamp
    try:
        metadata = msgspec.json.decode(raw.head)
        time_s = seconds_of(year, *map(int, stamp))
        if not isinstance(metadata, dict) or not metadata:
            raise ValueError("its metadata is no object")
        compile_id = _compile_id(metadata)
        event = next(iter(metadata))
        named = name_files(metadata, interned)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        damages.add("cannot be read", raw.line, raw.head, str(error))
        return None
    payload: str | None = None
    if "has_payload" in metadata or raw.payload is not None:
        joined = raw.payload or b""
        payload = _encodable(joined.decode("utf-8", "replace"))
    return Record(
        event=event,
        metadata=named,
        payload=payload,
        compile_id=compile_id,
        attempt=logged_count(metadata.get("attempt")) or 0,
        time_s=time_s,
        thread=int(thread[:18]),
    )


def _check(raw: _Raw, record: Record, damages: DamagedLines) -> None:
    """Count a payload that differs from the one that torch took the checksum of."""
    expected = record.metadata.get("has_payload")
    if isinstance(expected, str) and checksum_of(raw.payload or b"") != expected:
        what = "begins a payload that is not what torch wrote"
        damages.add(what, raw.line, raw.head, record.event)


def _encodable(payload: str) -> str:
    """The payload without lone surrogates, which JSON can express but UTF-8 cannot encode."""
    if "\\ud" not in payload and "\\uD" not in payload:
        return payload
    import json  # for milliseconds that most logs do not need

    try:
        text = json.dumps(json.loads(payload), ensure_ascii=False)
    except (ValueError, RecursionError):
        return payload
    whole = text.encode("utf-8", "replace").decode()
    return payload if whole == text else whole


def seconds_of(year: int, *parts: int) -> float:
    """The line's time, as if it was UTC: month, day, hour, minute, second, microsecond.

    29 February is that of the latest leap year, since a file may have been copied in a later one.
    """
    month, day, hour, minute, second, micro = parts
    while (month, day) == (2, 29) and not isleap(year):
        year -= 1
    moment = datetime(year, month, day, hour, minute, second, micro, timezone.utc)
    return moment.timestamp()


def name_files(metadata: Any, interned: dict[int, str]) -> Any:
    """Put file names in place of torch's numbers for them, and return the metadata.

    Parameters
    ----------
    metadata
        A record's; it is changed.
    interned
        The names so far, by number; gets the one that a ``str`` record defines.
    """
    intern_name(metadata, interned)
    if isinstance(metadata, (dict, list)):
        _name_within(metadata, interned)
    return metadata


def intern_name(metadata: Any, interned: dict[int, str]) -> None:
    """Add the file name that a ``str`` record defines to those so far."""
    detail = metadata.get("str") if isinstance(metadata, dict) else None
    if isinstance(detail, list) and len(detail) == 2 and isinstance(detail[1], int):
        interned[detail[1]] = str(detail[0])


def _name_within(value: dict[Any, Any] | list[Any], interned: dict[int, str]) -> None:
    """Replace every interned file name in a value by its text."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(item, (dict, list)):
            _name_within(item, interned)
        elif key == "filename" and isinstance(item, int):
            value[key] = interned.get(item, str(item))


def _compile_id(metadata: dict[str, Any]) -> str | None:
    return compile_id(*(metadata.get(name) for name in _ID_PARTS))


_ID_PARTS = ("compiled_autograd_id", "frame_id", "frame_compile_id")


def compile_id(autograd: Any, frame: Any, compilation: Any) -> str | None:
    """The compilation as torch names it: ``1/0``; ``!0/1/0`` in compiled autograd's graph 0.

    Raises
    ------
    ValueError
        The record names an impossible compilation.
    """
    for name, number in zip(_ID_PARTS, (autograd, frame, compilation), strict=True):
        if number is not None and logged_count(number) is None:
            raise ValueError(f"its {name} is {str(number)[:40]}")
    parts = [] if autograd is None else [f"!{autograd}"]
    if frame is not None and compilation is not None:
        parts += [str(frame), str(compilation)]
    return "/".join(parts) or None


@lru_cache(maxsize=64)
def known_id(autograd: int | None, frame: int | None, compilation: int | None) -> str | None:
    """`compile_id` of a decoded head: neighboring records are of the same few compilations."""
    return compile_id(autograd, frame, compilation)


def _true_times(records: list[Record]) -> list[Record]:
    """Correct the records' times."""
    shift = clock_shift(records)
    return [moved(record, shift) for record in records] if shift else records


def moved(record: Record, shift_s: float) -> Record:
    """The record at another time."""
    return msgspec.structs.replace(record, time_s=record.time_s + shift_s)


def clock_shift(records: Iterable[Record]) -> float:
    """The error of the lines' clock in seconds, from the first event with a full time.

    The lines name neither the year nor the time zone; timing events carry seconds since the epoch.
    """
    for record in records:
        if record.event != CHROMIUM_EVENT or not record.payload:
            continue
        try:
            true = float(msgspec.json.decode(record.payload)["ts"]) / 1e6
        except _NO_TIME:
            continue
        if math.isfinite(true) and 0 < true < _LAST_S:
            return whole_quarters(true - record.time_s)
    return 0.0


def first_span(block: Block, year: int) -> list[Record]:
    """The first timing event of a block, if there is one."""
    offset = block.buffer.find(b'] {"chromium_event"', 0, block.end)
    if offset < 0:
        return []
    text = block.record_at(block.buffer.rfind(b"\n", 0, offset))
    damages = DamagedLines("")
    records = (_record(raw, {}, year, damages) for raw in _split(text, damages))
    return [record for record in records if record is not None]


def whole_quarters(seconds: float) -> float:
    """The part of two clocks' difference due to time zone and a wrong year, in seconds."""
    return round(seconds / _QUARTER_HOUR) * _QUARTER_HOUR


_LAST_S = 253_402_300_800.0
"""The end of the year 9999: a later time is damage."""


class DamagedLines:
    """The damaged lines, by kind of damage.

    Parameters
    ----------
    name
        The file's, for the sentences.
    numbered
        Whether the lines' numbers are those of the file: it was read from its beginning.
    """

    def __init__(self, name: str, *, numbered: bool = True) -> None:
        self.name = name
        self._numbered = numbered
        self._counts: dict[str, int] = {}
        self._texts: dict[str, list[str]] = {}

    def add(self, what: str, line: int, text: bytes, why: str = "") -> None:
        """Count a line; ``what`` completes the sentence "A line …"."""
        self.count(what, 1)
        texts = self._texts.setdefault(what, [])
        if len(texts) < _LISTED:
            shown = text[:500].decode("utf-8", "replace").strip()
            place = f"line {line}: " if self._numbered else ""
            texts.append(f"{place}{f'{why}: ' if why else ''}{shown}")

    def count(self, what: str, lines: int) -> None:
        """Count further lines of a kind that is already listed."""
        self._counts[what] = self._counts.get(what, 0) + lines

    def problems(self) -> list[Problem]:
        """One problem for each kind of damage."""
        return [self._problem(what, count) for what, count in self._counts.items()]

    def _problem(self, what: str, count: int) -> Problem:
        texts = self._texts[what]
        if count == 1:
            sentence = f"A line of {self.name} {what}."
        else:
            sentence = f"{count} lines of {self.name} {_PLURAL[what]}."
        why = "The log is damaged, or something else wrote into it."
        if self._numbered:
            first = texts[0].partition(":")[0]
            why = f"{self.name}, {first}." if count == 1 else f"The first is {first}."
        return Problem(
            severity="warning",
            what=sentence,
            why=why,
            remedy="The rest of the file is shown. Record or copy the trace again to have all.",
            detail="\n".join([*texts, "…"] if count > len(texts) else texts),
        )


_PLURAL = {
    _NO_RECORD: "are not trace records",
    "cannot be read": "cannot be read",
    "begins a payload that is not what torch wrote": "begin payloads that are not what torch wrote",
}
