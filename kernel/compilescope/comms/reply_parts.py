"""Splits replies into parts, so that no message over the comm exceeds `MESSAGE_BYTES`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from . import messages
from .clients import to_builtins, without_surrogates


def in_parts(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages that a reply goes out in: itself, or its parts if it is long."""
    try:
        text = msgspec.json.encode(reply).decode()
    except UnicodeEncodeError:
        reply = without_surrogates(reply)
        text = msgspec.json.encode(reply).decode()
    pieces = list(split(text, messages.PART_BYTES))
    if len(pieces) == 1:
        return [reply]
    return [
        to_builtins(messages.ReplyPart(id=reply["id"], part=part, parts=len(pieces), text=piece))
        for part, piece in enumerate(pieces)
    ]


def split(text: str, limit: int) -> Iterator[str]:
    """The pieces of a text, in order, each at most ``limit`` bytes as a JSON string.

    Quotes, line breaks and non-ASCII letters take more bytes there than in the text.
    """
    start = 0
    while start < len(text):
        size = limit
        while (length := len(json.dumps(text[start : start + size]))) > limit and size > 1:
            # The long characters may be at the piece's start: bisect to find the end.
            size = max(1, min(size, len(text) - start) * limit // length)
        yield text[start : start + size]
        start += size
