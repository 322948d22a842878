"""Which wrapper serves each graph of a tiered compilation, as text."""

from __future__ import annotations

from ...analysis.figures.tier_words import TITLES, reasons, tier_text
from ...report.tiers import GraphTiers, Tier, Tiers
from . import layout


def render(tiers: Tiers) -> str:
    """Return a row for each graph, and why tiers are unwanted or failed."""
    if not tiers.graphs:
        return tiers.why or "no graph has tiers yet"
    used = {tier.name for graph in tiers.graphs for tier in graph.tiers}
    # CUDA graphs are listed only if they were requested.
    names = [name for name in TITLES if name in used]
    rows = [("graph", "serves", *(TITLES[name] for name in names))]
    for graph in tiers.graphs:
        cells = {tier.name: _cell(tier, graph) for tier in graph.tiers}
        title = f"{graph.compilation} {graph.kind}"
        rows.append((title, graph.serving, *(cells.get(name, "") for name in names)))
    notes = dict.fromkeys(why for graph in tiers.graphs for why in reasons(graph))
    return "\n".join([*layout.lines(rows), *notes])


def _cell(tier: Tier, graph: GraphTiers) -> str:
    is_pinned = graph.pinned and (graph.pinned_to or "python") == tier.name
    return tier_text(tier, graph) + (", pinned" if is_pinned and tier.state == "serves" else "")
