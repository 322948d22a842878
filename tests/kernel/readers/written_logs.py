"""Logs as torch writes them, for tests of what a trace's ranks have otherwise."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path


def record(event: str, text: str | None = None, detail: object = None, **ids: int) -> bytes:
    """A record, with a text if there is one."""
    head = {event: {} if detail is None else detail, **ids}
    lines = ""
    if text is not None:
        head["has_payload"] = hashlib.md5(text.encode()).hexdigest()
        lines = "".join(f"\t{line}\n" for line in text.split("\n"))
    return f"V0728 16:17:37.300000 60448 torch/x.py:1] {json.dumps(head)}\n{lines}".encode()


def artifact(name: str, payload: object, **ids: int) -> bytes:
    """An artifact's record."""
    return record("artifact", json.dumps(payload), {"name": name, "encoding": "json"}, **ids)


def ranks(folder: Path, texts: dict[int, bytes]) -> Path:
    """A folder with the log of each rank."""
    for rank, text in texts.items():
        (folder / f"dedicated_log_torch_trace_rank_{rank}_x.log").write_bytes(text)
    return folder
