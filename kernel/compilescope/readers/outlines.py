"""Outlines of a log's compilations, from the record heads: frame, time, duration, failure."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from ..analysis.guards.frames import files_of, first_of_frame, frame_of
from ..analysis.packages.trace_header import environment_of
from ..analysis.problems.failed_records import FAKE_KERNELS, outcome_of, reports_failure
from ..capture.logged_values import compile_time_s, finite, logged_count
from ..capture.parse_log import (
    DamagedLines,
    clock_shift,
    first_span,
    intern_name,
    known_id,
    name_files,
    seconds_of,
    whole_quarters,
)
from ..capture.record_heads import ARTIFACT_NAME, FEW_HEADS, Block, Blocks, Head, decode_head
from ..capture.records import NO_COMPILE_ID, Record
from ..report import Break, Compilation, Environment, Guard, Problem, SourceLine
from ..torch_api.trace.record_names import (
    BACKWARD_METRICS,
    COMPILATION_METRICS,
    CREATE_SYMBOL,
    DYNAMO_ERROR,
    DYNAMO_GRAPH,
    DYNAMO_START,
    GRAPH_BREAK_REASON,
    GUARDS,
    METRICS,
    RECOMPILE_REASONS,
)
from .unique_compile_ids import UniqueCompileIds

REDUCED = (
    "An outline, from the heads of the log's records: graphs, code, kernels and guards are read "
    "when the compilation is opened."
)
_TWO_DIGITS = re.compile(rb"\d\d")
_Ids = tuple[int | None, int | None, int | None]
"""The three fields of a head that name its compilation."""
_CACHE = re.compile(r".+_cache_(?:hit|miss|bypass)$")
_OUTLINED = {
    *METRICS,
    *FAKE_KERNELS,
    DYNAMO_START,
    RECOMPILE_REASONS,
    GRAPH_BREAK_REASON,
    DYNAMO_ERROR,
}
"""The records that an outline is made of, besides those of caches."""
_BEGIN_INDUCTOR = {"fx_graph_runnable", "before_post_grad_graph"}
"""The first records of Inductor. After those of a forward they are a backward's."""
_OF_PROCESS = {"torch_version", "fx_graph_runnable"}
_START = DYNAMO_START.encode()
_METRICS = {name.encode() for name in METRICS}


class _Kind(NamedTuple):
    """What is read of records of a name."""

    name: str
    """The artifact's, else the event's."""
    is_outlined: bool
    of_process: bool
    of_recompile: bool
    has_text: bool


@lru_cache(maxsize=1024)
def _kind(event: bytes, artifact: bytes) -> _Kind:
    name = (artifact if event == b"artifact" else event).decode("utf-8", "replace")
    return _Kind(
        name=name,
        is_outlined=name in _OUTLINED or _CACHE.match(name) is not None,
        of_process=name in METRICS or name in _OF_PROCESS,
        of_recompile=name == CREATE_SYMBOL,
        # The details of a cache hit or miss take megabytes: they are read with the compilation.
        has_text=not name.endswith(("_cache_hit", "_cache_miss")),
    )


class Metrics(msgspec.Struct):
    """The compilation metrics that outlines use, as torch logs them."""

    co_name: Any = None
    co_filename: Any = None
    co_firstlineno: Any = None
    start_time: Any = None
    duration_us: Any = None
    dynamo_cumulative_compile_time_us: Any = None
    entire_frame_compile_time_s: Any = None
    inductor_compile_time_s: Any = None
    fail_type: Any = None
    fail_reason: Any = None
    fail_user_frame_filename: Any = None
    fail_user_frame_lineno: Any = None
    config_suppress_errors: Any = None
    restart_reasons: Any = None
    dynamo_time_before_restart_s: Any = None
    guard_count: Any = None
    graph_op_count: Any = None
    graph_node_count: Any = None
    compile_time_autotune_time_us: Any = None
    pytorch_version: Any = None
    triton_version: Any = None
    python_version: Any = None


class _MetricsHead(Head):
    compilation_metrics: Metrics | None = None
    bwd_compilation_metrics: Metrics | None = None


class _SymbolHead(msgspec.Struct):
    create_symbol: dict[str, Any] = {}


_decode_metrics = msgspec.json.Decoder(_MetricsHead).decode


class Text(msgspec.Struct, frozen=True):
    """A record whose text stays in the file."""

    name: str
    """The artifact's, else the event's."""
    checksum: str
    """torch's own, in MD5."""
    offset: int
    """The position of the record in the file, in bytes."""


class Events(msgspec.Struct):
    """What the heads say of one compilation."""

    id: str
    records: list[Record] = []
    """The records that `outline` reads."""
    texts: list[Text] = []
    first_s: float | None = None
    """When the first of them was written, by the lines' clock."""
    outline: Compilation | None = None
    """None if records were read since it was made."""
    names: set[str] = set()
    """The records' names."""
    guards: list[Guard] = []
    """Of a recompile, those on what its reasons name, if these lack new values."""
    has_failure: bool = False
    """Whether one of the records `reports_failure`."""
    figures: dict[str, dict[str, Any]] = {}
    """The last of each kind of metrics."""
    in_backward: bool = False
    """Whether Inductor has begun on a backward whose metrics have not come."""

    def add(self, record: Record) -> None:
        """Add a record that `outline` reads."""
        self.records.append(record)
        self.names.add(record.name)
        if record.event in METRICS:
            self.figures[record.event] = record.metadata[record.event]
            self.in_backward = False
        self.has_failure = self.has_failure or reports_failure(record)

    def add_guards(self, read: Callable[[], str]) -> None:
        """Read the guards of a recompile on what its reasons name, if these lack new values."""
        from .new_values import guards_of_failed, need_guards  # recompiles are few

        self.names.add(GUARDS)
        logged = [record.payload for record in self.records if record.name == RECOMPILE_REASONS]
        reasons = [text for text in logged if text]
        self.guards = guards_of_failed(read(), reasons) if need_guards(reasons) else []

    def metrics(self, event: str) -> dict[str, Any]:
        """Torch's figures of the forward or of the backward; empty where they are not logged."""
        return self.figures.get(event, {})

    @property
    def has_recompile_reasons(self) -> bool:
        """Whether torch said why it compiled the frame again."""
        return RECOMPILE_REASONS in self.names

    @property
    def is_done(self) -> bool:
        """Whether the compilation has ended, successfully or not."""
        return bool(self.figures)

    @property
    def is_unfinished(self) -> bool:
        """Whether its end, or that of its backward, is still to be logged."""
        return (self.starts and not self.is_done) or self.in_backward

    @property
    def starts(self) -> bool:
        """Whether Dynamo started it, so that its end will be logged."""
        return DYNAMO_START in self.names


class Outlines:
    """The compilations of a log that may still be written.

    Parameters
    ----------
    blocks
        The log, from its beginning.
    year
        When it was written: the lines do not name it.
    damages
        Gets what cannot be read.
    """

    def __init__(self, blocks: Blocks, year: int, damages: DamagedLines) -> None:
        self.events: dict[str, Events] = {}
        """Compile id → the events of the compilation, in torch's order."""
        self._blocks = blocks
        self._year = year
        self._damages = damages
        self._unique_ids = UniqueCompileIds()
        self._names: dict[int, str] = {}
        self._process: dict[str, Record] = {}
        """The records about the process, by name."""
        self._shift_s: float | None = None
        self._second, self._second_s = b"", 0
        """The last record's time as its line has it, and in seconds."""
        self._by_ids: dict[_Ids, Events] = {}
        """The compilations since torch last began to count, by its ids."""
        self._touched: dict[str, Events] = {}
        """The compilations with new records since the last `read`."""
        self._last: Events | None = None
        """That of the record before, if it is touched."""

    def read(
        self, progress: Callable[[int], None] = lambda position: None, *, whole: bool = True
    ) -> list[Events]:
        """Read what was written since the last time.

        Parameters
        ----------
        progress
            Called with the position in the file, now and then.
        whole
            Whether the file is finished. Else a record that may go on is left for the next time.

        Returns
        -------
        list of Events
            Of the compilations that there is something new of.
        """
        self._touched.clear()
        self._last = None
        for block in self._blocks.complete():
            self._read(block)
            progress(self._blocks.position)
        if whole or self._blocks.last_is_complete():
            last = self._blocks.last()
            if last is not None:
                self._read(last)
                self._blocks.take_last()
        return list(self._touched.values())

    @property
    def position(self) -> int:
        """How far the log was read, in bytes."""
        return self._blocks.position

    @property
    def first_s(self) -> float:
        """When the first compilation began, by the lines' clock."""
        times = (events.first_s for events in self.events.values() if events.first_s is not None)
        return min(times, default=float("inf"))

    @property
    def environment(self) -> Environment:
        """Where the log was written."""
        return environment_of(list(self._process.values()))

    def compilations(self) -> list[Compilation]:
        """Outline every compilation."""
        return [self.outline(events) for events in self.events.values()]

    def outline(self, events: Events) -> Compilation:
        """A compilation without what only its texts tell."""
        if events.outline is None:
            first = self.events.get(first_of_frame(events.id), events)
            frame = frame_of(events.records) or frame_of(first.records)
            events.outline = _outline(events, frame, self._shift_s or 0.0)
        return events.outline

    def failures(self) -> list[Problem]:
        """The problems that `read_failures` finds in the log, in torch's order."""
        records = [
            record
            for events in self.events.values()
            if events.has_failure
            for record in events.records
        ]
        if not records:
            return []
        # It imports what explains C++ errors, which a trace without failures does not need.
        from ..analysis.problems.compile_failures import read_failures

        return read_failures(records, self.compilations())

    def _read(self, block: Block) -> None:
        if self._shift_s is None:
            # Before the others: the year may differ, and not all metrics have a time.
            self._shift_s = clock_shift(first_span(block, self._year)) or None
        for match in FEW_HEADS.finditer(block.buffer, 0, block.end):
            if match[4] is None:
                self._add_foreign(block, match.start())
                continue
            end = block.line_end(match.end())
            text = block.buffer[match.start(3) : end]
            try:
                self._add(block, match, text, end)
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                self._damages.add("cannot be read", 0, bytes(text), str(error))

    def _add_foreign(self, block: Block, start: int) -> None:
        line = bytes(block.buffer[start + 1 : block.line_end(start + 1)])
        if line.strip():
            self._damages.add("is not a trace record", 0, line)

    def _add(self, block: Block, match: re.Match[bytes], text: bytearray, end: int) -> None:
        # It is called for each record but spans: what is computed here is most of a reading.
        event = match[4]
        if event == b"str":
            intern_name(msgspec.json.decode(text), self._names)
            return
        is_metrics = event in _METRICS
        head = _decode_metrics(text) if is_metrics else decode_head(text)
        artifact = b""
        if event == b"artifact" and (title := ARTIFACT_NAME.search(text)):
            artifact = title[1]
        kind = _kind(event, artifact)
        ids = (head.compiled_autograd_id, head.frame_id, head.frame_compile_id)
        if event == _START and not head.attempt:
            self._start(ids)
        events = None
        if kind.name == "torch_version":
            known_id(*ids)  # raises if they are damaged
        else:
            events = self._by_ids.get(ids) or self._events(ids, match)
            if events is not self._last:
                self._last = events
                events.outline = None
                self._touched[events.id] = events
            if head.has_payload is not None:
                offset = block.offset + match.start() + 1
                events.texts.append(Text(kind.name, head.has_payload, offset))
            if kind.name in _BEGIN_INDUCTOR and events.is_done:
                events.in_backward = True
        if kind.name == GUARDS:
            # As symbols: only of recompiles, because the reasons may lack the new values.
            if events is not None and events.has_recompile_reasons:
                events.add_guards(lambda: _text_of(block, end))
            return
        of_process = kind.of_process and kind.name not in self._process
        of_recompile = kind.of_recompile and events is not None and events.has_recompile_reasons
        if not of_process and not kind.is_outlined and not of_recompile:
            return
        name = kind.name if event != b"artifact" else "artifact"
        record = Record(
            event=name,
            metadata=self._metadata(name, kind.name, head, text),
            payload=_text_of(block, end) if kind.has_text else None,
            compile_id=None if events is None or events.id == NO_COMPILE_ID else events.id,
            attempt=head.attempt or 0,
            time_s=self._time(match),
        )
        if of_process:
            self._process[kind.name] = record
        if events is not None and (kind.is_outlined or of_recompile):
            events.add(record)
            if self._shift_s is None:
                self._set_clock(events)

    def _metadata(self, event: str, name: str, head: Head, text: bytearray) -> dict[str, Any]:
        """The metadata that outlines look at."""
        if event in METRICS:
            return {event: msgspec.structs.asdict(getattr(head, event) or Metrics())}
        if event == "artifact":
            return {event: {"name": name}}
        if event == CREATE_SYMBOL:
            symbol: dict[str, Any] = msgspec.json.decode(text, type=_SymbolHead).create_symbol
            return {event: {key: symbol.get(key) for key in ("symbol", "val", "source")}}
        if event == DYNAMO_START or event in FAKE_KERNELS:
            named: dict[str, Any] = name_files(msgspec.json.decode(text), self._names)
            return named
        return {event: {}}

    def _time(self, match: re.Match[bytes]) -> float:
        # Dozens of records are of the same second.
        if match[1] != self._second:
            parts = map(int, _TWO_DIGITS.findall(match[1]))
            self._second, self._second_s = match[1], int(seconds_of(self._year, *parts, 0))
        return (self._second_s * 1_000_000 + int(match[2])) / 1_000_000

    def _start(self, ids: _Ids) -> None:
        """Record that Dynamo starts a compilation."""
        torch_id = known_id(*ids)
        if torch_id is not None and self._unique_ids.start(torch_id):
            self._by_ids.clear()

    def _events(self, ids: _Ids, match: re.Match[bytes]) -> Events:
        """The compilation that a record belongs to, which may be its first."""
        torch_id = known_id(*ids)
        shown = NO_COMPILE_ID if torch_id is None else self._unique_ids.name(torch_id)
        events = self.events.get(shown)
        if events is None:
            events = self.events[shown] = Events(shown, first_s=self._time(match))
        self._by_ids[ids] = events
        return events

    def _set_clock(self, events: Events) -> None:
        """Align the lines' clock with torch's own, which has the year and the time zone."""
        started_s = finite(events.metrics(COMPILATION_METRICS).get("start_time"))
        if started_s is not None:
            self._shift_s = whole_quarters(started_s - events.records[0].time_s)


def _text_of(block: Block, head_end: int) -> str:
    return block.payload_at(head_end).decode("utf-8", "replace")


def _breaks(events: Events, frame: SourceLine | None) -> list[Break]:
    """The graph breaks of a compilation."""
    if GRAPH_BREAK_REASON not in events.names:
        return []
    # It imports what takes a break's message apart, which a trace without breaks does not need.
    from ..analysis.problems.breaks import read_breaks

    return read_breaks(events.records, frame)


def _outline(events: Events, frame: SourceLine | None, shift_s: float) -> Compilation:
    records = events.records
    metrics = events.metrics(COMPILATION_METRICS)
    compilation = Compilation(
        id=events.id,
        attempt=max((record.attempt for record in records), default=0),
        frame=frame,
        breaks=_breaks(events, frame),
        outcome=outcome_of(records) if events.has_failure else "compiled",
        reduced=REDUCED,
        counts={"graphs": int(any(text.name == DYNAMO_GRAPH for text in events.texts))},
    )
    nodes = logged_count(metrics.get("graph_node_count"))
    if nodes is not None:
        compilation.counts["nodes"] = nodes
    for record in records:
        name = record.name
        if name == RECOMPILE_REASONS and record.payload:
            # Neither this nor the caches are in each log.
            from ..analysis.guards.reasons.logged_reasons import parse_recompile
            from ..analysis.guards.reasons.recompile_words import add_causes
            from .new_values import add_failures

            compilation.recompile = parse_recompile(record.payload, files_of(records))
            are_logged = GUARDS in events.names
            add_failures(compilation, records, events.guards, are_logged=are_logged)
            add_causes(compilation)
        elif record.event == "artifact" and name not in _OUTLINED:
            from ..analysis.phases.caches import parse_cache

            cache = parse_cache(name, record.payload)
            if cache is not None:
                compilation.cache.append(cache)
    started_s = finite(metrics.get("start_time"))
    if started_s is not None:
        compilation.started_s = started_s
    else:
        starts = (record.time_s for record in records if record.event == DYNAMO_START)
        started_s = next(starts, None)
        compilation.started_s = None if started_s is None else started_s + shift_s
    compilation.duration_s = compile_time_s(metrics, events.metrics(BACKWARD_METRICS))
    return compilation
