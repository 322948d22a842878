"""Who is on the line: each panel's two comms, and when it was last heard of."""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import msgspec
from comm.base_comm import BaseComm

from .messages import Event, Message

SILENCE_S = 180.0
"""After this long without a word a client is taken for gone. A browser lets a hidden tab's timers
run once a minute."""


_log = logging.getLogger(__name__)


def plain(message: Message) -> dict[str, Any]:
    """A message as dicts, lists, numbers and text.

    Options of a variant may be anything: what JSON does not know goes as its ``repr``.
    """
    found: dict[str, Any] = msgspec.to_builtins(message, enc_hook=repr)
    return found


class Client(msgspec.Struct, kw_only=True):
    """A panel in some browser tab."""

    requests: BaseComm | None = None
    events: BaseComm | None = None
    heard: float = msgspec.field(default_factory=time.monotonic)


class Clients:
    """The clients by their id. Safe to use from any thread.

    A reload of the page leaves its comms open in the kernel: nothing tells it. So clients that fall
    silent are forgotten and their comms closed.
    """

    def __init__(self) -> None:
        self._clients: dict[str, Client] = {}
        self._lock = threading.Lock()

    def open(self, name: str, end: str, comm: BaseComm) -> None:
        """Notes a client's comm; ``end`` is "requests" or "events"."""
        with self._lock:
            client = self._clients.setdefault(name, Client())
            setattr(client, end, comm)
            client.heard = time.monotonic()
            silent = [
                self._clients.pop(other)
                for other, known in list(self._clients.items())
                if time.monotonic() - known.heard > SILENCE_S
            ]
        for client in silent:
            for gone in (client.requests, client.events):
                if gone is not None:
                    gone.close()

    def heard(self, name: str) -> None:
        """A client has spoken."""
        with self._lock:
            if name in self._clients:
                self._clients[name].heard = time.monotonic()

    def close(self, comm: BaseComm) -> None:
        """A comm was closed from the other end."""
        with self._lock:
            for name, client in list(self._clients.items()):
                if comm in (client.requests, client.events):
                    del self._clients[name]

    def tell(self, event: str, data: Message) -> None:
        """Sends an event to every client."""
        message = plain(Event(event=event, data=plain(data)))
        with self._lock:
            comms = [client.events for client in self._clients.values()]
        for comm in comms:
            if comm is None:
                continue
            try:
                comm.send(message)
            except Exception:  # noqa: BLE001 - one line that is cut is not the others' matter
                _log.warning("A panel cannot be reached and hears no more.", exc_info=True)
                self.close(comm)

    def listening(self) -> bool:
        """Whether a client hears events and has spoken lately."""
        with self._lock:
            return any(
                client.events is not None and time.monotonic() - client.heard <= SILENCE_S
                for client in self._clients.values()
            )

    def __len__(self) -> int:
        return len(self._clients)
