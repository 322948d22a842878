"""A reply longer than a message may be goes out in parts that the panel can put together."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from compilescope.comms import endpoints, messages
from compilescope.comms.clients import Clients
from compilescope.report.problem import Problem


class Line:
    """The kernel's end of a comm; keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    def send(self, data: dict[str, Any]) -> None:
        json.dumps(data, ensure_ascii=False).encode()
        self.sent.append(data)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit that a test's reply exceeds."""
    monkeypatch.setattr(messages, "PART_BYTES", 1000)
    return 1000


def reply(text: str) -> dict[str, Any]:
    return {"id": "7", "result": {"filename": "f.json", "text": text}, "error": None}


def test_a_lone_surrogate_in_a_reply_is_replaced() -> None:
    line = Line()
    endpoints._send(line, reply("a\ud800b"))  # type: ignore[arg-type]
    assert line.sent == [reply("a?b")]


def test_a_lone_surrogate_in_an_event_is_replaced() -> None:
    line, clients = Line(), Clients()
    clients.open("tab", "events", line)
    problem = Problem(severity="error", what="a\ud800b")
    clients.broadcast("told", messages.Reply(id="7", error=problem))
    assert line.sent[0]["data"]["error"]["what"] == "a?b"


def test_parts_are_numbered_and_make_the_reply(short: int) -> None:
    line = Line()
    whole = reply("∂" * 5 * short)
    endpoints._send(line, whole)  # type: ignore[arg-type]
    parts = [msgspec.convert(sent, messages.ReplyPart) for sent in line.sent]
    assert [part.part for part in parts] == list(range(len(parts)))
    assert {part.parts for part in parts} == {len(parts)}
    assert len(parts) > 5
    assert all(len(part.text) <= short and part.id == "7" for part in parts)
    assert json.loads("".join(part.text for part in parts)) == whole


def test_a_short_reply_goes_out_whole(short: int) -> None:
    line = Line()
    endpoints._send(line, reply("x"))  # type: ignore[arg-type]
    assert line.sent == [reply("x")]


@pytest.mark.parametrize("letter", ["x", "\n", '"', "∂", "𝛿", "\\"])
def test_no_message_is_longer_than_a_megabyte(letter: str) -> None:
    line = Line()
    whole = reply("x" * 500_000 + letter * 2_000_000)
    endpoints._send(line, whole)  # type: ignore[arg-type]
    # As the kernel's messages are written.
    assert max(len(json.dumps(sent)) for sent in line.sent) < 1_000_000
    assert json.loads("".join(sent["text"] for sent in line.sent)) == whole
