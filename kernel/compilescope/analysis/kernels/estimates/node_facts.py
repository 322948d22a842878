"""What the estimates of all launches of a graph share."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from ....report import Node


@dataclass(frozen=True)
class NodeFacts:
    """What is the same for every launch that a graph's node is part of, by the node's name."""

    views: dict[str, bool] = dataclasses.field(default_factory=dict)
    positions: dict[str, list[Node | None]] = dataclasses.field(default_factory=dict)
    arguments: dict[str, list[Node]] = dataclasses.field(default_factory=dict)
    counts: dict[str, tuple[int, dict[str, int]]] = dataclasses.field(default_factory=dict)
    """Elements, with the symbols that were needed for them, and their values."""
    distinct: dict[str, int] = dataclasses.field(default_factory=dict)
    """The elements of inputs that are different places in memory."""
