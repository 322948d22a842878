"""``chromium_event`` begin, end and instant events → trees of compile phases."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..capture.records import Record
from ..report import Phase


def build_phases(records: Sequence[Record]) -> dict[str, list[Phase]]:
    """Match begins and ends, per thread, into trees.

    Parameters
    ----------
    records
        All records; only ``chromium_event`` is read.

    Returns
    -------
    dict
        Compile id → its outermost phases. Times are in µs from the earliest phase of all records.
        What runs on other threads (building kernels) names no compile id; it is put into the
        innermost phase that spans it.
    """
    # A frame that is compiled while another one is has an id, and so a stack, of its own.
    stacks: dict[tuple[int, str | None], list[Phase]] = {}
    roots: list[tuple[Phase, str | None]] = []
    instants: list[tuple[Phase, str | None]] = []
    for record in records:
        if record.event != "chromium_event" or not record.payload:
            continue
        event = _event(record.payload)
        if event is None:
            continue
        name, kind, stamp, owner = event
        owner = owner or record.compile_id
        stack = stacks.setdefault((record.thread, owner), [])
        phase = Phase(name=name, start_us=stamp, duration_us=0.0)
        if kind == "B":
            stack.append(phase)
        elif kind == "i":
            instants.append((phase, owner))
        elif kind == "E":
            roots += [(root, owner) for root in _close(stack, name, stamp)]
    for (_, owner), stack in stacks.items():
        roots += [(root, owner) for root in _abandon(stack)]
    trees: dict[str, list[Phase]] = {}
    loose: list[Phase] = []
    for phase, owner in roots:
        if owner is None:
            loose.append(phase)
        else:
            trees.setdefault(owner, []).append(phase)
    for phase, owner in instants:
        candidates = trees.get(owner, []) if owner else _all(trees)
        if not _place(phase, candidates) and owner:
            trees.setdefault(owner, []).append(phase)
    for phase in loose:
        _place(phase, _all(trees))
    origin = min((phase.start_us for phase in _all(trees)), default=0.0)
    for phases in trees.values():
        _settle(phases, origin)
    return trees


def _event(payload: str) -> tuple[str, str, float, str | None] | None:
    try:
        event = json.loads(payload)
        owner = (event.get("args") or {}).get("compile_id")
        stamp = float(event["ts"])
        return str(event["name"]), str(event["ph"]), stamp, None if owner == "None" else owner
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # a damaged event is one phase less


def _close(stack: list[Phase], name: str, stamp: float) -> list[Phase]:
    """End the innermost open phase of this name; phases left open inside it end with it.

    Returns the phases that turn out to be outermost: one or none.
    """
    at = next((i for i in range(len(stack) - 1, -1, -1) if stack[i].name == name), None)
    if at is None:
        return []
    for phase in stack[at:]:
        phase.duration_us = max(0.0, stamp - phase.start_us)
    return _pop(stack, at)


def _abandon(stack: list[Phase]) -> list[Phase]:
    """Phases that never ended (an exception, a cut trace) reach to the end of what they hold."""
    latest = max((_last_end(phase) for phase in stack), default=0.0)
    for phase in stack:
        phase.duration_us = max(0.0, latest - phase.start_us)
    return _pop(stack, 0)


def _last_end(phase: Phase) -> float:
    ends = [child.start_us + child.duration_us for child in phase.children]
    return max([phase.start_us, *ends])


def _pop(stack: list[Phase], at: int) -> list[Phase]:
    """Take the phases from ``at`` on off the stack, each into the one below it."""
    while len(stack) > at:
        phase = stack.pop()
        if not stack:
            return [phase]
        stack[-1].children.append(phase)
    return []


def _all(trees: dict[str, list[Phase]]) -> list[Phase]:
    return [phase for phases in trees.values() for phase in phases]


def _place(phase: Phase, candidates: Sequence[Phase]) -> bool:
    """Put a phase into the innermost of the candidates that spans it."""
    end = phase.start_us + phase.duration_us
    home: Phase | None = None
    while True:
        spanning = next(
            (
                other
                for other in candidates
                if other is not phase
                and other.start_us <= phase.start_us
                and end <= other.start_us + other.duration_us
                and other.duration_us > phase.duration_us
            ),
            None,
        )
        if spanning is None:
            break
        home, candidates = spanning, spanning.children
    if home is None:
        return False
    home.children.append(phase)
    return True


def _settle(phases: list[Phase], origin: float) -> None:
    """Sort by time and count from the origin."""
    phases.sort(key=lambda phase: phase.start_us)
    for phase in phases:
        phase.start_us = round(phase.start_us - origin, 3)
        phase.duration_us = round(phase.duration_us, 3)
        _settle(phase.children, origin)
