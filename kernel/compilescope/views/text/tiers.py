"""Which wrapper serves each graph of a tiered compilation, as text."""

from __future__ import annotations

from ...report.tiers import GraphTiers, Tier, TierName, Tiers
from ...report.units import size
from . import layout

_TITLES: dict[TierName, str] = {
    "python": "Python wrapper",
    "cpp": "C++ wrapper",
    "cuda_graphs": "CUDA graphs",
}


def render(tiers: Tiers) -> str:
    """Return a row for each graph, and why tiers are unwanted or failed."""
    if not tiers.graphs:
        return "no graph has tiers yet"
    used = {tier.name for graph in tiers.graphs for tier in graph.tiers}
    # CUDA graphs are there only where they were asked for.
    names = [name for name in _TITLES if name in used]
    rows = [("graph", "serves", *(_TITLES[name] for name in names))]
    notes: list[str] = []
    for graph in tiers.graphs:
        cells = {tier.name: _cell(tier, graph) for tier in graph.tiers}
        title = f"{graph.compilation} {graph.kind}"
        rows.append((title, graph.serving, *(cells.get(name, "") for name in names)))
        for tier in graph.tiers:
            why = tier.problem.why if tier.problem is not None else tier.why
            if why and why not in notes:
                notes.append(why)
    return "\n".join([*layout.lines(rows), *notes])


def _cell(tier: Tier, graph: GraphTiers) -> str:
    if tier.name == "cuda_graphs":
        return _graphs_cell(tier)
    seconds = "" if tier.seconds is None else f" in {tier.seconds:.1f} s"
    gain = "" if graph.gain is None else f", {graph.gain}"
    pinned = ", pinned" if graph.pinned and (graph.pinned_to or "python") == tier.name else ""
    if tier.name == "python":
        return f"compiled{seconds}{pinned}"
    if tier.cached and tier.state in ("serves", "replaced"):
        return f"from the cache{gain}{pinned}"
    swapped = "" if graph.swapped_s is None else f", swapped in after {graph.swapped_s:.1f} s"
    return {
        "serves": f"built{seconds}{swapped}{gain}{pinned}",
        "replaced": f"built{seconds}{swapped}{gain}",
        "waits": "build queued",
        "builds": "being built",
        "checks": f"built{seconds}, checked at the next call",
        "checked": f"built{seconds}, checked",
        "failed": "failed",
        "unwanted": "not built",
    }[tier.state]


def _graphs_cell(tier: Tier) -> str:
    seconds = "" if tier.seconds is None else f" in {tier.seconds:.2g} s"
    swapped = "" if tier.swapped_s is None else f", swapped in after {tier.swapped_s:.1f} s"
    gain = "" if tier.gain is None else f", {tier.gain}"
    pool = "" if tier.pool_bytes is None else f", pool {size(tier.pool_bytes)}"
    recorded = f"recorded{seconds}{swapped}{gain}{pool}"
    return {
        "waits": "wait for the C++ wrapper",
        "records": "recorded by the next calls",
        "failed": "failed",
        "unwanted": "not recorded",
    }.get(tier.state, recorded)
