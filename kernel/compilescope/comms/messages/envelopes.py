"""The envelopes of all messages, and the names of the two comms."""

from __future__ import annotations

from typing import Any

from ...report import Problem, Struct

PROTOCOL_VERSION = 1
REQUESTS_TARGET = "compilescope.requests"
EVENTS_TARGET = "compilescope.events"
MESSAGE_BYTES = 1_000_000
"""No message over a comm is longer, with its buffers in base64 too: hosts limit messages, and the
notebook shares the connection."""
PART_BYTES = 900_000
"""How much of a longer reply or page a message carries, so that there is room for its envelope."""


class Message(Struct):
    """The base of all messages. A result may also be a struct of the report."""


class Request(Message):
    """A request; ``command`` is one of `COMMANDS`, ``arguments`` is that command's struct."""

    version: int
    client: str
    id: str
    command: str
    arguments: dict[str, Any] = {}


class Reply(Message):
    """A reply: ``result`` is the command's result, or ``error`` says why there is none."""

    id: str
    result: dict[str, Any] | None = None
    error: Problem | None = None


class ReplyPart(Message):
    """A piece of a reply that is longer than `PART_BYTES`.

    The pieces' texts, one after the other, are the reply as JSON.
    """

    id: str
    part: int
    """The number of this part, counted from 0."""
    parts: int
    text: str


class Event(Message):
    """A push. ``event`` names one of `EVENTS`; ``data`` is that event's struct."""

    event: str
    data: dict[str, Any] = {}


class Done(Message):
    """The result of commands that have none."""
