"""Compares captures of two processes: whether Dynamo captured the same call."""

from __future__ import annotations

import hashlib
import re

from ..torch_api.trace.record_names import DYNAMO_GRAPH, GUARDS
from .capture_graphs import Captured

_COMPARED = (DYNAMO_GRAPH, GUARDS, "dynamo_guards")
"""The events whose text says what was captured: the graph with its sizes, and the guards."""

_ID = re.compile(r"(___check_(?:obj|type)_id\(.*?, )\d{5,}\b")
"""``id()`` of an object that a guard checks, which differs in each process."""

_ADDED = re.compile(r"(__builtins_dict___)\d+|_\d{5,}_c\d+")
"""torch's count, or ``id()``, in the names of globals that it adds; it differs in each process."""

_ATTENTION = "scaled_dot_product_attention"

_ADDRESS = re.compile(r"0x[0-9a-f]+")

_SET = re.compile(r"frozenset\(\{(.*?)\}\)")
"""A set that a guard compares, whose order differs in each process."""


def fingerprint(captured: Captured) -> str:
    """A digest that is equal for captures with the same graphs and guards, for equal settings."""
    # Not before: it loads Inductor.
    from ..torch_api.inductor import generation_state

    digest = hashlib.sha256()
    for record in captured.records:
        if record.name in _COMPARED:
            digest.update(f"{record.name} {comparable(str(record.payload))}\n".encode())
    state = captured.context.copy().run(generation_state.described)
    # torch decides its order at the first call of an attention.
    if any(_ATTENTION in str(record.payload) for record in captured.records):
        state += generation_state.attention_order()
    digest.update(_ADDRESS.sub("id", state).encode())
    return digest.hexdigest()


def comparable(text: str) -> str:
    """A graph or guards as torch prints them, without what differs in each process.

    Examples
    --------
    >>> comparable("KINDS == frozenset({2, 1})"), comparable("<function f at 0x7f1c>")
    ("KINDS == ['1', '2']", '<function f at id>')
    """
    text = _ADDRESS.sub("id", _ADDED.sub(r"\1id", _ID.sub(r"\1id", text)))
    return _SET.sub(lambda found: str(sorted(found[1].split(", "))), text)
