"""The memory that a graph would need if each of its operators wrote its result."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ...report import Node
from ..graphs.operation_counts import IN_PLACE, ITEM, VIEWS, operator_name
from ..text.sizes import BYTES, Hints, UnknownSize, count_of
from .unused_results import UnusedResult, unused_result

_CONDITION = "cond"


def unfused_peak(nodes: Sequence[Node], hints: Hints, used: dict[str, int]) -> float | None:
    """The peak; None if the size of a result is unknown.

    Inputs belong to the caller and do not count. A view takes no memory and keeps that of its
    source. A result is freed after its last use, and at once if it has none; the graph's outputs
    stay. Of a condition's branches the larger one counts.
    """
    last: dict[str, int] = {}
    owner: dict[str, str] = {}
    by_name = {node.name: node for node in nodes}
    for place, node in enumerate(nodes):
        for name in node.inputs:
            last[owner.get(name, name)] = place
        owner[node.name] = _owner(node, owner, by_name)
    free: dict[int, list[str]] = {}
    for name, place in last.items():
        free.setdefault(place, []).append(name)
    sizes: dict[str, int] = {}
    live = peak = 0
    for place, node in enumerate(nodes):
        if _writes(node, owner):
            try:
                sizes[node.name] = _bytes(node, hints, used)
            except UnknownSize:
                return None
            live += sizes[node.name]
            peak = max(peak, live)
        if node.op == "output":
            break
        if operator_name(node.target) == _CONDITION:
            branches = _branches(node, nodes, by_name)
            peaks = [unfused_peak(branch, hints, used) for branch in branches]
            known = [inside for inside in peaks if inside is not None]
            if len(known) < len(peaks):
                return None
            peak = max(peak, *(live + int(inside) for inside in known))
        unused = unused_result(node, by_name)
        if unused is not None:
            try:
                peak = max(peak, live + _both_results(node, unused, by_name, hints, used))
            except UnknownSize:
                return None
        for name in free.get(place, ()):
            live -= sizes.pop(name, 0)
        if node.name not in last and owner[node.name] == node.name:
            live -= sizes.pop(node.name, 0)
    return float(peak)


def _branches(
    condition: Node, nodes: Sequence[Node], by_name: dict[str, Node]
) -> list[Sequence[Node]]:
    """The nodes of each branch, which follow those of the graph that has the condition."""
    names = [name for name in condition.inputs if name in by_name]
    prefixes = [f"{name}." for name in names if by_name[name].op == "get_attr"]
    parts = [[node for node in nodes if node.name.startswith(prefix)] for prefix in prefixes]
    return [part for part in parts if part]


def _owner(node: Node, owner: dict[str, str], nodes: dict[str, Node]) -> str:
    """The node that owns the memory of a value."""
    if node.op != "call_function" or not node.inputs:
        return node.name
    first = node.inputs[0]
    name = operator_name(node.target)
    if node.target in ITEM:
        source = nodes.get(first)
        several = source is not None and source.shape is None
        return owner.get(first, first) if not several or owner.get(first) != first else node.name
    if name in VIEWS or name in IN_PLACE:
        return owner.get(first, first)
    return node.name


def _writes(node: Node, owner: dict[str, str]) -> bool:
    return node.op == "call_function" and node.shape is not None and owner[node.name] == node.name


def _both_results(
    node: Node, unused: UnusedResult, nodes: dict[str, Node], hints: Hints, used: dict[str, int]
) -> int:
    """The memory of a node's used and unused result; the latter is freed at once."""
    item = next(nodes[user] for user in node.users if user in nodes)
    other = msgspec.structs.replace(item, dtype=unused.dtype)
    return _bytes(item, hints, used) + _bytes(other, hints, used)


def _bytes(node: Node, hints: Hints, used: dict[str, int]) -> int:
    size = BYTES.get(node.dtype or "")
    if size is None:
        raise UnknownSize(f"The size of an element of {node.name} is not known.")
    return size * count_of(node.shape or (), hints, used)
