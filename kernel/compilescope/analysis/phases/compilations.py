"""Splits a list of records into compilations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...capture.records import Record
from ...torch_api.trace.record_names import CHROMIUM_EVENT, DYNAMO_START


def epochs(records: Sequence[Record]) -> list[Sequence[Record]]:
    """Split the records where ``torch._dynamo.reset()`` restarted compile ids."""
    bounds = [0]
    started: set[str] = set()
    for index, record in enumerate(records):
        if record.event != DYNAMO_START or record.compile_id is None or record.attempt:
            continue
        if record.compile_id in started:
            bounds.append(_begin(records, index, bounds[-1]))
            started.clear()
        started.add(record.compile_id)
    bounds.append(len(records))
    return [records[start:end] for start, end in pairwise(bounds) if end > start]


def _begin(records: Sequence[Record], index: int, floor: int) -> int:
    """Where the compilation that starts at ``index`` begins: its outer phases come before."""
    while index > floor + 1:
        before = records[index - 1]
        opens = before.event == CHROMIUM_EVENT and '"ph": "B"' in (before.payload or "")
        if not opens and before.name not in ("str", "torch_version"):
            break
        index -= 1
    return index


def compile_groups(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """Group the records by compile id, in the order of first appearance.

    Ids with nothing but timing are left out: they belong to the end of another epoch.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record.compile_id is not None:
            groups.setdefault(record.compile_id, []).append(record)
    return [
        (compile_id, group)
        for compile_id, group in groups.items()
        if any(record.event != CHROMIUM_EVENT for record in group)
    ]
