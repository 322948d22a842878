"""Compares captures of two processes: whether Dynamo captured the same call."""

from __future__ import annotations

import hashlib
import re

from .capture_graphs import Captured

_COMPARED = ("dynamo_output_graph", "dynamo_cpp_guards_str", "dynamo_guards")
"""The events whose text says what was captured: the graph with its sizes, and the guards."""

_ADDRESS = re.compile(r"(?<=, )\d{5,}(?=\))|0x[0-9a-f]+")
"""``id()`` of an object that a guard checks, which differs in each process."""


def fingerprint(captured: Captured) -> str:
    """A digest that is equal for captures with the same graphs and guards."""
    digest = hashlib.sha256()
    for record in captured.records:
        if record.name in _COMPARED:
            text = _ADDRESS.sub("id", str(record.payload))
            digest.update(f"{record.name} {text}\n".encode())
    return digest.hexdigest()
