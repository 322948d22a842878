"""A panel as the kernel sees it: two comms whose other end is the test."""

from __future__ import annotations

import json
from typing import Any

from comm.base_comm import CommManager
from compilescope.comms import messages


class FakeComm:
    """A comm whose other end is the test."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.closed = False
        self.broken = False
        self.message: Any = None
        self.gone: Any = None

    def send(self, data: dict[str, Any]) -> None:
        if self.broken:
            raise OSError("the line is cut")
        json.dumps(data)
        self.sent.append(data)

    def on_msg(self, callback: Any) -> None:
        self.message = callback

    def on_close(self, callback: Any) -> None:
        self.gone = callback

    def close(self) -> None:
        self.closed = True

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        self.message({"content": {"data": request(command, **arguments)}})
        return self.sent[-1]

    @property
    def events(self) -> list[str]:
        return [sent["event"] for sent in self.sent]


def request(command: str, **arguments: Any) -> dict[str, Any]:
    return {
        "version": messages.PROTOCOL_VERSION,
        "client": "tab",
        "id": "7",
        "command": command,
        "arguments": arguments,
    }


def connect(manager: CommManager, name: str = "tab") -> tuple[FakeComm, FakeComm]:
    """A panel's two comms, opened as JupyterLab does."""
    opened = FakeComm(), FakeComm()
    for end, target in zip(opened, (messages.REQUESTS_TARGET, messages.EVENTS_TARGET), strict=True):
        manager.targets[target](end, {"content": {"comm_id": "c", "data": {"client": name}}})
    return opened
