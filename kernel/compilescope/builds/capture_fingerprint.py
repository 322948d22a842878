"""Compares captures of two processes: whether Dynamo captured the same call."""

from __future__ import annotations

import hashlib
import re

from .capture_graphs import Captured

_COMPARED = ("dynamo_output_graph", "dynamo_cpp_guards_str", "dynamo_guards")
"""The events whose text says what was captured: the graph with its sizes, and the guards."""

_NUMBER = re.compile(r"(?<=, )\d{5,}(?=\))|0x[0-9a-f]+|_\d{5,}_c\d+|(?<=___)\d+(?=')")
"""``id()`` of an object that a guard checks, and torch's count of the globals that it adds: they
differ in each process."""


def fingerprint(captured: Captured) -> str:
    """A digest that is equal for captures with the same graphs and guards."""
    digest = hashlib.sha256()
    for record in captured.records:
        if record.name in _COMPARED:
            text = _NUMBER.sub("id", str(record.payload))
            digest.update(f"{record.name} {text}\n".encode())
    return digest.hexdigest()
