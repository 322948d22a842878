"""Compares captures of two processes: whether Dynamo captured the same call."""

from __future__ import annotations

import hashlib
import re

from ..capture.records import Record
from ..isolation.code_digest import digest_of_code
from ..torch_api.trace import record_names
from .capture_graphs import Captured

_COMPARED = (record_names.DYNAMO_GRAPH, record_names.GUARDS, record_names.GUARD_LIST)
"""The events whose text says what was captured: the graph with its sizes, and the guards."""

_TRACEBACK = "User code traceback:"
"""What follows in a reason names the code that called the subject."""

_ID = re.compile(r"(___check_(?:obj|type)_id\(.*?, )\d{5,}\b")
"""``id()`` of an object that a guard checks, which differs in each process."""

_ADDED = re.compile(r"(__builtins_dict___)\d+|_\d{5,}_c\d+")
"""torch's count, or ``id()``, in the names of globals that it adds; it differs in each process."""

_ATTENTION = "scaled_dot_product_attention"

_ADDRESS = re.compile(r"0x[0-9a-f]+")

_SET = re.compile(r"frozenset\(\{(.*?)\}\)")
"""A set that a guard compares, whose order differs in each process."""


def fingerprint(captured: Captured, *, ran: bool = False) -> str:
    """A digest that is equal for captures with the same graphs and guards, for equal settings.

    The code that Dynamo traced for the graphs is also the same: what it does with other sizes.

    Parameters
    ----------
    ran
        Whether both captures ran the call: then the graphs' order, the graph breaks and the values
        of symbols are compared too.
    """
    # Not before: it loads Inductor.
    from ..torch_api.inductor import generation_state

    digest = hashlib.sha256()
    for record in captured.records:
        if record.name in _COMPARED:
            digest.update(f"{record.name} {comparable(str(record.payload))}\n".encode())
        elif ran:
            digest.update(_of_run(record).encode())
    for graph in captured.graphs:
        codes = sorted(digest_of_code(code, comparable) for code in graph.traced)
        digest.update(f"code {' '.join(codes)}\n".encode())
    state = captured.context.copy().run(generation_state.described)
    # torch decides its order at the first call of an attention.
    if any(_ATTENTION in str(record.payload) for record in captured.records):
        state += generation_state.attention_order()
    digest.update(_ADDRESS.sub("id", state).encode())
    return digest.hexdigest()


def _of_run(record: Record) -> str:
    """What a record says of a run with values; empty if it says nothing."""
    match record.name:
        case record_names.DYNAMO_START:
            return "frame\n"
        case record_names.GRAPH_BREAK_REASON:
            reason = str(record.payload).partition(_TRACEBACK)[0]
            return f"break {comparable(reason)}\n"
        case record_names.CREATE_SYMBOL:
            symbol = record.detail
            return f"symbol {symbol.get('symbol')} {symbol.get('source')} {symbol.get('val')}\n"
    return ""


def comparable(text: str) -> str:
    """A graph or guards as torch prints them, without what differs in each process.

    Examples
    --------
    >>> comparable("KINDS == frozenset({2, 1})"), comparable("<function f at 0x7f1c>")
    ("KINDS == ['1', '2']", '<function f at id>')
    """
    text = _ADDRESS.sub("id", _ADDED.sub(r"\1id", _ID.sub(r"\1id", text)))
    return _SET.sub(lambda match: str(sorted(match[1].split(", "))), text)
