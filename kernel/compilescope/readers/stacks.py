"""The call stacks that triggered compilations, as a tree."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..analysis.guards.frames import stack_of
from ..report import SourceLine
from ..report.subjects.traces import StackLine, Stacks
from .lazy_trace import ProcessLog
from .outlines import Events

_MAX_LINES = 2000
"""The limit for all trees of a trace: they are sent to the panel with the trace's summary."""


class _Node(msgspec.Struct):
    below: dict[SourceLine, _Node] = {}
    compilations: list[str] = []


def stacks_of(logs: Iterable[ProcessLog]) -> list[Stacks]:
    """The stacks of each process's compilations; processes with equal stacks share a tree.

    Parameters
    ----------
    logs
        As far as they were read.
    """
    trees: list[Stacks] = []
    max_lines = _MAX_LINES
    for log in logs:
        tree = _tree(log.events.values(), max_lines)
        same = next((other for other in trees if _is_same(other, tree)), None)
        if same is not None:
            same.processes.append(log.name)
            continue
        tree.processes.append(log.name)
        trees.append(tree)
        max_lines -= len(tree.lines)
    return trees


def _is_same(stacks: Stacks, other: Stacks) -> bool:
    return (stacks.lines, stacks.unknown, stacks.left_out) == (
        other.lines,
        other.unknown,
        other.left_out,
    )


def _tree(all_events: Iterable[Events], max_lines: int) -> Stacks:
    stacks = Stacks()
    root = _Node()
    for events in all_events:
        frames = stack_of(events.records)
        if frames is None:
            continue
        if not frames:
            stacks.unknown.append(events.id)
            continue
        node = root
        for frame in frames:
            node = node.below.setdefault(frame, _Node())
        node.compilations.append(events.id)
    # Without recursion: a user's stack may be deeper than Python's recursion limit.
    left = [(0, frame, node) for frame, node in reversed(root.below.items())]
    while left:
        depth, frame, node = left.pop()
        if len(stacks.lines) < max_lines:
            stacks.lines.append(StackLine(depth, frame, node.compilations))
        else:
            stacks.left_out += len(node.compilations)
        left += [(depth + 1, *frame_and_node) for frame_and_node in reversed(node.below.items())]
    return stacks
