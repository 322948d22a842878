"""Reads from an FX node the nodes that it was derived from.

Relies on keys of ``Node.meta``, the same from 2.11 to 2.15: ``source_fn_stack`` (Dynamo's names of
the calls that a node was traced under; AOTAutograd copies it to what it traces),
``fwd_source_fn_stack`` (on a backward node: the stack of its forward node, which torch finds by
autograd's sequence numbers), ``original_aten`` (the operator whose decomposition produced it),
``partitioner_tag`` (whether it belongs to the forward or to the backward), ``desc`` (which input of
the graph a placeholder is) and ``from_node`` (with ``trace.provenance_tracking_level`` 1: the nodes
that a pass replaced by it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ...report import Node

if TYPE_CHECKING:
    from torch.fx import Node as FxNode

_MAX_ANCESTORS = 64
"""How many ancestors of a node are kept: enough for any chain of passes seen so far."""


class NodeOrigins(msgspec.Struct, frozen=True):
    """The origins of a node, as far as torch recorded them."""

    calls: tuple[str, ...] = ()
    """Dynamo's names of the calls, outermost first: a call inside a ``torch.cond`` has two."""
    argument: int | None = None
    """The index of a placeholder among the graph's inputs, from 0."""
    past: tuple[tuple[int, str], ...] = ()
    """Its ancestors, nearest first: the graph's ``id`` and the node's name."""
    original: str = ""
    """The operator that it was decomposed from, or its own: ``aten.gelu.default``."""
    backward: bool = False
    """Whether autograd made it."""


class NodesWithOrigins(list[Node]):
    """A graph's nodes, with their origins as torch recorded them."""

    def __init__(self) -> None:
        super().__init__()
        self.graphs: set[int] = set()
        """The graph's ids in torch while it was alive; several if copies print the same text."""
        self.node_origins: dict[str, NodeOrigins] = {}
        """Node name → its origins."""


def recorded_origins(node: FxNode) -> NodeOrigins:
    """Read the origins that torch recorded on a node."""
    meta = node.meta
    calls = meta.get("source_fn_stack") or meta.get("fwd_source_fn_stack") or ()
    argument = None
    if node.op == "placeholder":
        index = getattr(meta.get("desc"), "idx", None)
        # A tangent or an output also has an index, but in another list.
        if isinstance(index, int) and type(meta["desc"]).__name__ == "PlainAOTInput":
            argument = index
    past: list[tuple[int, str]] = []
    if node.op != "placeholder":
        _gather(meta.get("from_node") or (), past)
    return NodeOrigins(
        calls=tuple(str(call[0]) for call in calls),
        argument=argument,
        past=tuple(past),
        original=str(meta.get("original_aten") or ""),
        backward=meta.get("partitioner_tag") == "is_backward",
    )


def _gather(sources: Sequence[Any], past: list[tuple[int, str]]) -> None:
    level = list(sources)
    while level and len(past) < _MAX_ANCESTORS:
        for source in level:
            place = (getattr(source, "graph_id", 0), str(getattr(source, "name", "")))
            if place not in past:
                past.append(place)
        level = [origin for source in level for origin in getattr(source, "from_node", None) or ()]
