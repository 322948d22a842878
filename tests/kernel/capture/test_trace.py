"""Listening to torch's structured trace: who hears what, and what is left afterwards."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from compilescope.capture.live import record_of, recording
from compilescope.capture.records import Record
from compilescope.capture.renumber import numbers, renumber
from compilescope.capture.stream import Stream
from compilescope.torch_api.trace.trace import Event, listening, with_names
from torch._logging import _internal, structured

LOG = _internal.trace_log


def trace(name: str, payload: str = "") -> None:
    _internal.trace_structured(
        "artifact",
        metadata_fn=lambda: {"name": name, "encoding": "string"},
        payload_fn=lambda: payload,
        expect_trace_id=False,
    )


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    trace("torch's own handler removes itself at the first event, if nobody set TORCH_TRACE")
    before = list(LOG.handlers)
    yield
    after = list(LOG.handlers)
    LOG.handlers[:] = before
    assert after == before


def test_events_arrive_with_their_payload() -> None:
    records: list[Record] = []
    trace("before")
    with recording(records):
        trace("during", "text\nof two lines")
    trace("after")
    (record,) = records
    assert (record.event, record.name, record.payload) == (
        "artifact",
        "during",
        "text\nof two lines",
    )
    assert record.compile_id is None
    assert record.time_s > 1e9
    assert record.thread == threading.get_ident()


def test_another_thread_is_somebody_else() -> None:
    mine: list[Event] = []
    theirs: list[Event] = []

    def other() -> None:
        trace("unheard")
        with listening(theirs.append):
            trace("theirs")

    with listening(mine.append):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        trace("mine")
    assert [event.metadata["artifact"]["name"] for event in mine] == ["mine"]
    assert [event.metadata["artifact"]["name"] for event in theirs] == ["theirs"]


def test_the_inner_listener_hears_alone() -> None:
    outer: list[Event] = []
    inner: list[Event] = []
    with listening(outer.append):
        trace("one")
        with listening(inner.append):
            trace("two")
        trace("three")
    assert [event.metadata["artifact"]["name"] for event in outer] == ["one", "three"]
    assert [event.metadata["artifact"]["name"] for event in inner] == ["two"]


def test_handlers_stay_when_threads_begin_and_end_in_any_order() -> None:
    before = list(LOG.handlers)
    began, ended = threading.Event(), threading.Event()

    def other() -> None:
        with listening(lambda _: None):
            began.set()
            ended.wait(600)

    thread = threading.Thread(target=other)
    mine = logging.NullHandler()
    with listening(lambda _: None):
        thread.start()
        assert began.wait(600)
        LOG.addHandler(mine)
    ended.set()
    thread.join()
    assert LOG.handlers == [*before, mine]
    LOG.removeHandler(mine)


def test_torch_s_own_handler_comes_back_after_it_removed_itself() -> None:
    class Lazy(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            LOG.removeHandler(self)

    events: list[Event] = []
    lazy = Lazy()
    LOG.handlers.insert(0, lazy)
    with listening(events.append):
        trace("one")
        trace("two")
    assert len(events) == 2
    assert LOG.handlers[0] is lazy
    LOG.handlers.remove(lazy)


def test_an_error_of_the_sink_waits_for_the_end() -> None:
    events: list[Event] = []

    def sink(event: Event) -> None:
        events.append(event)
        raise LookupError("in the sink")

    reached = []

    def block() -> None:
        with listening(sink):
            trace("one")
            trace("two")
            reached.append(True)

    with pytest.raises(LookupError, match="in the sink"):
        block()
    assert reached == [True]
    assert len(events) == 2


def test_the_block_s_own_error_comes_first() -> None:
    def sink(_: Event) -> None:
        raise LookupError("in the sink")

    def block() -> None:
        with listening(sink):
            trace("one")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()


def test_file_names_are_text_although_torch_interned_them_before() -> None:
    records: list[Record] = []

    def double(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    torch.compile(double, backend="eager")(torch.ones(2))
    torch._dynamo.reset()
    with recording(records):
        torch.compile(double, backend="eager")(torch.ones(2))
    (start,) = (record for record in records if record.event == "dynamo_start")
    files = [frame["filename"] for frame in start.metadata["dynamo_start"]["stack"]]
    assert files[-1] == __file__
    assert {record.compile_id for record in records if record.compile_id} == {"0/0"}


def test_spans_of_compiled_autograd_belong_to_its_compilations() -> None:
    def traced(take: Callable[[Event], None]) -> None:
        metadata = {"artifact": {"name": "x"}, "compiled_autograd_id": 0}
        take(Event({**metadata, "frame_id": 7, "frame_compile_id": 0}, "", 0.0, 0))
        span = json.dumps({"name": "dynamo", "ph": "E", "args": {"compile_id": "!0/7/0"}})
        take(Event({"chromium_event": {}}, span, 0.0, 0))

    events: list[Event] = []
    traced(events.append)
    records = [record_of(event) for event in events]
    assert numbers(records) == {"7/0": "0/0", "!0/7/0": "0/0"}
    assert '"compile_id": "0/0"' in (renumber(records)[1].payload or "")
    stream = Stream(lambda error: None)
    traced(stream.put)
    stream.group_events()
    assert list(stream.groups) == ["7/0"]
    assert '"compile_id": "7/0"' in (stream.groups["7/0"].records[1].payload or "")


def test_an_event_that_cannot_be_read_keeps_no_other_back() -> None:
    def details() -> dict[str, Any]:
        raise ValueError("the graph is gone")

    errors: list[Exception] = []
    stream = Stream(errors.append)
    metadata = {"artifact": {}, "frame_id": 7, "frame_compile_id": 0}
    stream.put(Event(metadata, "", 0.0, 0, details=details))
    stream.put(Event(metadata, "", 0.0, 0))
    stream.group_events()
    assert [str(error) for error in errors] == ["the graph is gone"]
    assert len(stream.groups["7/0"].records) == 1


def test_names_that_another_compilation_adds_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[str, object] = {}

    class Number(int):
        def __eq__(self, other: object) -> bool:
            table["added"] = 3
            return super().__eq__(other)

        __hash__ = int.__hash__

    table |= {"first.py": Number(1), "second.py": 2}
    monkeypatch.setattr(structured, "INTERN_TABLE", table)
    event = with_names(Event({"filename": 2}, None, 0.0, 0))
    assert event.metadata == {"filename": "second.py"}


def test_ids_are_counted_from_zero_and_named_alike_in_reasons() -> None:
    def record(frame: int, compilation: int, name: str, payload: str) -> Record:
        return Record(
            event="artifact",
            metadata={
                "artifact": {"name": name},
                "frame_id": frame,
                "frame_compile_id": compilation,
            },
            payload=payload,
            compile_id=f"{frame}/{compilation}",
        )

    reason = '["1000007/3: size mismatch at 1000007", "12/34: unknown"]'
    records = renumber(
        [
            record(1_000_007, 3, "other", "1000007/3"),
            record(1_000_009, 0, "other", ""),
            record(1_000_007, 4, "recompile_reasons", reason),
        ]
    )
    assert [record.compile_id for record in records] == ["0/0", "1/0", "0/1"]
    assert [record.metadata["frame_id"] for record in records] == [0, 1, 0]
    assert records[0].payload == "1000007/3"
    assert records[2].payload == '["0/0: size mismatch at 1000007", "12/34: unknown"]'
