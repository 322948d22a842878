"""Messages about the tiers of graphs that the backend ``compilescope`` compiled."""

from __future__ import annotations

from ...report.tiers import GraphTiers, TierName
from .envelopes import Message


class PinTier(Message):
    """Pins a graph to a tier, or unpins it."""

    number: int
    """`GraphTiers.number`."""
    pinned: bool
    tier: TierName = "python"
    """The last that may serve, if it is pinned."""


class TiersResult(Message):
    """Every graph that has tiers and can still be called."""

    graphs: list[GraphTiers] = []


class TiersChanged(Message):
    """A graph has tiers now, or its tiers have changed."""

    graph: GraphTiers
