"""The results of library calls that nothing uses: the graph does not list them, but they exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...report import Node
from ..graphs.operation_counts import ITEM, operator_name
from ..text.brackets import split_list
from .storage_lifetimes import Name, Storage, StorageTracker

_VALUES_AND_INDICES = frozenset(
    ("cummax", "cummin", "kthvalue", "median", "mode", "nanmedian", "sort", "topk")
)
"""Operators with two results of the same size: values of the input's dtype, and their indices."""
_OTHER = {"0": "1", "1": "0"}
_INDICES = "1"


class UnusedResult(NamedTuple):
    """The result of a node that no other node uses."""

    place: str
    """Its index among the results."""
    shape: Sequence[str]
    strides: Sequence[str]
    dtype: str
    device: str


def unused_result(node: Node, nodes: Mapping[str, Node]) -> UnusedResult | None:
    """The unused result of a node whose other result is used; None if it has none."""
    if node.shape is not None or operator_name(node.target) not in _VALUES_AND_INDICES:
        return None
    items = [nodes[user] for user in node.users if user in nodes and nodes[user].target in ITEM]
    used = {split_list(item.args)[-1] for item in items if item.shape is not None}
    if len(used) != 1 or not used <= _OTHER.keys():
        return None
    other = _OTHER[used.pop()]
    source = nodes.get(node.inputs[0]) if node.inputs else None
    values = source.dtype if source is not None else None
    dtype = "int64" if other == _INDICES else values or ""
    (item, *_) = items
    return UnusedResult(other, item.shape or [], item.stride or [], dtype, item.device or "")


def add_unused(tracker: StorageTracker) -> None:
    """Add the memory of unused results, which lives as long as the tuple that has it.

    A C++ wrapper has a name for each result, but does not say how large an unused one is.
    """
    for storage in list(dict.fromkeys(name.storage for name in tracker.names)):
        nodes = [tracker.nodes[name] for name in storage.nodes if name in tracker.nodes]
        results = (unused_result(node, tracker.nodes) for node in nodes)
        result = next(filter(None, results), None)
        if result is None:
            continue
        if storage.items and result.place not in storage.items:
            for item in storage.items.values():
                item.dies = max(item.dies, storage.dies)
            place = tracker.names.index(storage.names[0]) + 1
            tracker.names.insert(place, _unused(storage, result))
        elif storage.shape is None and storage.place == result.place:
            _describe(storage, result)


def _unused(results: Storage, result: UnusedResult) -> Name:
    storage = Storage(
        f"{results.name}[{result.place}]", results.born, results.line, place=result.place
    )
    storage.dies, storage.branches = results.dies, results.branches
    storage.absent = results.absent
    _describe(storage, result)
    name = Name(storage.name, storage, storage.born, storage.line, dies=storage.dies)
    storage.names.append(name)
    return name


def _describe(storage: Storage, result: UnusedResult) -> None:
    storage.shape, storage.strides = list(result.shape), list(result.strides)
    storage.dtype, storage.device = result.dtype, result.device
    storage.unused = True
