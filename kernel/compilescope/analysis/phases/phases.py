"""Builds trees of compile phases from ``chromium_event`` records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...capture.logged_values import decoded
from ...capture.records import NO_COMPILE_ID, Record
from ...report import Phase
from ...report.resumed import readable_name
from ...torch_api.trace.record_names import CHROMIUM_EVENT
from .compile_time import add_self_times
from .phase_kinds import name_kinds


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
        Phases of other threads (building kernels) go into the innermost phase that spans them, on a
        separate track, and do not reduce that phase's own time.
    """
    trees = _trees(records)
    origin = _origin(trees) or 0.0
    for phases in trees.values():
        _sort_and_shift(phases, origin)
        name_kinds(phases)
        add_self_times(phases)
    return trees


def phases_begin_s(records: Sequence[Record]) -> float | None:
    """When the earliest phase began, in seconds since the epoch; None without phases."""
    origin = _origin(_trees(records))
    return None if origin is None else origin / 1e6


def begin_at(phases: list[Phase], start_us: float) -> None:
    """Move phases together, so that the earliest begins there.

    Of compilations that are read one by one, each begins at 0.
    """
    earliest = min((phase.start_us for phase in phases), default=0.0)
    _sort_and_shift(phases, earliest - start_us)


def _origin(trees: Mapping[str, Sequence[Phase]]) -> float | None:
    return min((phase.start_us for phase in _all(trees)), default=None)


def _trees(records: Sequence[Record]) -> dict[str, list[Phase]]:
    """Compile id → its outermost phases, in µs since the epoch."""
    stacks: dict[int, list[_Open]] = {}
    roots: list[_Root] = []
    instants: list[_Root] = []
    for record in records:
        if record.event != CHROMIUM_EVENT or not record.payload:
            continue
        event = _event(record.payload)
        if event is None:
            continue
        owner = event.owner or record.compile_id
        stack = stacks.setdefault(record.thread, [])
        phase = Phase(name=event.name, start_us=event.stamp, duration_us=0.0, detail=event.detail)
        if event.kind == "B":
            stack.append(_Open(phase, owner or (stack[-1].owner if stack else None)))
        elif event.kind == "i":
            instants.append(_Root(phase, owner, record.thread))
        elif event.kind == "E":
            ended = _close(stack, event, owner)
            roots += [_Root(closed.phase, closed.owner, record.thread) for closed in ended]
    for thread, stack in stacks.items():
        roots += [_Root(abandoned.phase, abandoned.owner, thread) for abandoned in _abandon(stack)]
    trees = _build_trees(roots, instants)
    if not any(record.compile_id == NO_COMPILE_ID for record in records):
        trees.pop(NO_COMPILE_ID, None)
    return trees


class _Root(NamedTuple):
    """An outermost phase of its thread and compilation."""

    phase: Phase
    owner: str | None
    thread: int


class _Open(NamedTuple):
    """An open phase, with the compilation that it belongs to."""

    phase: Phase
    owner: str | None


class _Event(NamedTuple):
    name: str
    kind: str
    stamp: float
    """The time of the event, in µs since the epoch."""
    owner: str | None
    detail: str


_DETAILS = ("compilescope_detail", "kernel_name", "co_name")


def _event(payload: str) -> _Event | None:
    try:
        event = decoded(payload)
        arguments = event.get("args") or {}
        owner = arguments.get("compile_id")
        stamp = float(event["ts"])
        if not math.isfinite(stamp) or not isinstance(owner, str | None):
            return None
        detail = next((arguments[name] for name in _DETAILS if arguments.get(name)), "")
        if arguments.get("is_backward") is True:
            detail = detail or "backward"
        return _Event(
            str(event["name"]),
            str(event["ph"]),
            stamp,
            None if owner == "None" else owner,
            readable_name(str(detail)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return None  # a damaged event loses one phase


def _build_trees(roots: Sequence[_Root], instants: Sequence[_Root]) -> dict[str, list[Phase]]:
    """Each compilation's phases in one tree, with a separate track for every other thread."""
    trees: dict[str, list[Phase]] = {}
    loose: list[_Root] = []
    home: dict[str, int] = {}
    for root in sorted(roots, key=lambda root: root.phase.start_us):
        if root.owner is None:
            loose.append(root)
            continue
        tree = trees.setdefault(root.owner, [])
        # A backward may be compiled on autograd's thread: afterwards, not in parallel.
        if home.setdefault(root.owner, root.thread) != root.thread and any(
            _overlap(root.phase, other) for other in tree
        ):
            loose.append(root)
        else:
            tree.append(root.phase)
    for phase, owner, _ in instants:
        candidates = trees.get(owner, []) if owner else _all(trees)
        if not _place(phase, candidates) and owner:
            trees.setdefault(owner, []).append(phase)
    tracks = dict.fromkeys(home.values(), 0)
    for root in loose:
        track = tracks.setdefault(root.thread, len(set(tracks.values()) | {0}))
        _set_track(root.phase, track)
        is_placed = _place(root.phase, trees.get(root.owner, []) if root.owner else _all(trees))
        if not is_placed and root.owner is None:
            trees.setdefault(NO_COMPILE_ID, []).append(root.phase)
    return trees


def _overlap(phase: Phase, other: Phase) -> bool:
    return (
        phase.start_us < other.start_us + other.duration_us
        and other.start_us < phase.start_us + phase.duration_us
    )


def _set_track(phase: Phase, track: int) -> None:
    phase.track = track
    for child in phase.children:
        _set_track(child, track)


def _close(stack: list[_Open], event: _Event, owner: str | None) -> list[_Open]:
    """End the innermost open phase of this name; phases left open inside it end with it.

    Returns the phases that are outermost.
    """
    named = [i for i in range(len(stack) - 1, -1, -1) if stack[i].phase.name == event.name]
    at = next((i for i in named if owner in (None, stack[i].owner)), None)
    if at is None:
        return []
    for open_phase in stack[at:]:
        open_phase.phase.duration_us = max(0.0, event.stamp - open_phase.phase.start_us)
    stack[at].phase.detail = stack[at].phase.detail or event.detail
    return _pop(stack, at)


def _abandon(stack: list[_Open]) -> list[_Open]:
    """End phases that never ended (an exception, a truncated trace) with their last child."""
    latest = max((_last_end(open_phase.phase) for open_phase in stack), default=0.0)
    for open_phase in stack:
        open_phase.phase.duration_us = max(0.0, latest - open_phase.phase.start_us)
    return _pop(stack, 0)


def _last_end(phase: Phase) -> float:
    ends = [child.start_us + child.duration_us for child in phase.children]
    return max([phase.start_us, *ends])


def _pop(stack: list[_Open], at: int) -> list[_Open]:
    """Pop the phases from ``at`` on off the stack, each into its parent.

    A frame that is compiled during another compilation has its own tree: its outermost phase is
    returned.
    """
    outermost = []
    while len(stack) > at:
        popped = stack.pop()
        around = next((other for other in reversed(stack) if other.owner == popped.owner), None)
        if around is None:
            outermost.append(popped)
        else:
            around.phase.children.append(popped.phase)
    return outermost


def _all(trees: Mapping[str, Sequence[Phase]]) -> list[Phase]:
    return [phase for phases in trees.values() for phase in phases]


def _place(phase: Phase, candidates: Sequence[Phase]) -> bool:
    """Put a phase into the innermost of the candidates that spans it.

    Its new neighbors on its track that ran during it become its children.
    """
    end = phase.start_us + phase.duration_us
    home: Phase | None = None
    while True:
        enclosing = next(
            (
                other
                for other in candidates
                if other is not phase
                and other.start_us <= phase.start_us
                and end <= other.start_us + other.duration_us
                and other.track in (0, phase.track)
                and other.duration_us > phase.duration_us
            ),
            None,
        )
        if enclosing is None:
            break
        home, candidates = enclosing, enclosing.children
    if home is None:
        return False
    if phase.duration_us:
        inside = [
            other
            for other in home.children
            if other.track == phase.track
            and phase.start_us <= other.start_us
            and other.start_us + other.duration_us <= end
        ]
        if inside:
            phase.children += inside
            home.children = [
                child for child in home.children if all(child is not x for x in inside)
            ]
    home.children.append(phase)
    return True


def _sort_and_shift(phases: list[Phase], origin: float) -> None:
    """Sort by time and count from the origin."""
    phases.sort(key=lambda phase: phase.start_us)
    for phase in phases:
        phase.start_us = round(phase.start_us - origin, 3)
        phase.duration_us = round(phase.duration_us, 3)
        _sort_and_shift(phase.children, origin)
