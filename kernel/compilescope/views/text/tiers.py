"""Which wrapper serves each graph of a tiered compilation, as text."""

from __future__ import annotations

from ...report.tiers import GraphTiers, Tier, TierName, Tiers
from . import layout

_TITLES: dict[TierName, str] = {"python": "Python wrapper", "cpp": "C++ wrapper"}


def render(tiers: Tiers) -> str:
    """Return a row for each graph, and why tiers are unwanted or failed."""
    if not tiers.graphs:
        return "no graph has tiers yet"
    rows = [("graph", "serves", *_TITLES.values())]
    notes: list[str] = []
    for graph in tiers.graphs:
        cells = {tier.name: _cell(tier, graph) for tier in graph.tiers}
        title = f"{graph.compilation} {graph.kind}"
        rows.append((title, graph.serving, *(cells[name] for name in _TITLES)))
        for tier in graph.tiers:
            why = tier.problem.why if tier.problem is not None else tier.why
            if why and why not in notes:
                notes.append(why)
    return "\n".join([*layout.lines(rows), *notes])


def _cell(tier: Tier, graph: GraphTiers) -> str:
    seconds = "" if tier.seconds is None else f" in {tier.seconds:.1f} s"
    gain = "" if graph.gain is None else f", {graph.gain}"
    if tier.cached and tier.state == "serves" and tier.name == "cpp":
        return f"from the cache{gain}"
    pinned = ", pinned" if graph.pinned else ""
    if tier.name == "python":
        return f"compiled{seconds}{pinned}"
    swapped = "" if graph.swapped_s is None else f", swapped in after {graph.swapped_s:.1f} s"
    return {
        "serves": f"built{seconds}{swapped}{gain}",
        "replaced": f"built{seconds}",
        "waits": "build queued",
        "builds": "being built",
        "checks": f"built{seconds}, checked at the next call",
        "checked": f"built{seconds}, checked",
        "failed": "failed",
        "unwanted": "not built",
    }[tier.state]
