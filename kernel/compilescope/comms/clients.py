"""The connected panels: the lines to each, and when it last sent a request."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any, Protocol

import msgspec

from ..report import Struct
from .messages import Event, Message

SILENCE_S = 180.0
"""A client that sends nothing for this long is removed. Browsers run the timers of a hidden tab
once a minute."""


_log = logging.getLogger(__name__)


def to_builtins(message: Struct) -> dict[str, Any]:
    """A message as dicts, lists, numbers and text.

    A variant's options may hold any value: what JSON cannot represent is sent as its ``repr``.
    """
    builtins: dict[str, Any] = msgspec.to_builtins(message, enc_hook=repr)
    return builtins


def encodable(data: dict[str, Any]) -> dict[str, Any]:
    """A message that can be sent as UTF-8: without lone surrogates, as a user's text may have."""
    try:
        msgspec.json.encode(data)
    except UnicodeEncodeError:
        cleaned: dict[str, Any] = without_surrogates(data)
        return cleaned
    return data


def without_surrogates(value: Any) -> Any:
    """Plain data whose text can be encoded as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        pairs = value.items()
        return {without_surrogates(key): without_surrogates(item) for key, item in pairs}
    if isinstance(value, (list, tuple)):
        return [without_surrogates(item) for item in value]
    return value


class Line(Protocol):
    """A way to a panel: a comm, or a widget."""

    def send(self, data: dict[str, Any], /) -> Any:
        """Sends a message."""

    def close(self) -> Any:
        """Closes the line."""


class Client(msgspec.Struct, kw_only=True):
    """A panel: in some browser tab, or in a cell's output."""

    requests: Line | None = None
    events: Line | None = None
    follows: bool = True
    """Whether it switches to each new subject. A panel in a cell's output stays with its report."""
    last_request_at: float = msgspec.field(default_factory=time.monotonic)


class Clients:
    """The clients by their id. Safe to use from any thread.

    A page reload leaves its comms open in the kernel, without any notice. Clients that fall silent
    are therefore removed and their comms closed.
    """

    def __init__(self) -> None:
        self._clients: dict[str, Client] = {}
        self._lock = threading.Lock()

    def open(self, name: str, end: str, line: Line, *, follows: bool = True) -> None:
        """Records a client's line; ``end`` is "requests" or "events"."""
        with self._lock:
            client = self._clients.setdefault(name, Client(follows=follows))
            setattr(client, end, line)
            client.last_request_at = time.monotonic()
            silent = [
                self._clients.pop(other)
                for other, other_client in list(self._clients.items())
                if time.monotonic() - other_client.last_request_at > SILENCE_S
            ]
        for client in silent:
            for gone in (client.requests, client.events):
                if gone is not None:
                    gone.close()

    def note_request(self, name: str) -> None:
        """Records that a client has sent a request."""
        with self._lock:
            if name in self._clients:
                self._clients[name].last_request_at = time.monotonic()

    def close(self, line: Line) -> None:
        """Removes a line that the client closed."""
        with self._lock:
            for name, client in list(self._clients.items()):
                if line in (client.requests, client.events):
                    del self._clients[name]

    def broadcast(self, event: str, data: Message) -> None:
        """Sends an event to every client."""
        message = encodable(to_builtins(Event(event=event, data=to_builtins(data))))
        with self._lock:
            lines = [client.events for client in self._clients.values()]
        for line in lines:
            if line is None:
                continue
            try:
                line.send(message)
            except Exception:  # noqa: BLE001 - one line that is cut is not the others' matter
                _log.warning("A panel cannot be reached and is removed.", exc_info=True)
                self.close(line)

    def listening(self) -> bool:
        """Whether a client that follows the cells receives events and has sent a request lately."""
        with self._lock:
            return any(
                client.follows
                and client.events is not None
                and time.monotonic() - client.last_request_at <= SILENCE_S
                for client in self._clients.values()
            )

    def __len__(self) -> int:
        return len(self._clients)
