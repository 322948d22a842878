"""The state of each tier of a graph, in words: for the panel, saved files and a terminal."""

from __future__ import annotations

from ...report.tiers import GraphTiers, Tier, TierName
from ...report.units import size

TITLES: dict[TierName, str] = {
    "python": "Python wrapper",
    "cpp": "C++ wrapper",
    "cuda_graphs": "CUDA graphs",
}

_SHARED = (
    "{} {} was compiled for another result of torch.compile. A pin applies to every result that "
    "uses it."
)


def add_tier_words(graph: GraphTiers) -> None:
    """Fill `GraphTiers.lines`."""
    graph.lines = [f"{TITLES[tier.name]}: {tier_text(tier, graph)}" for tier in graph.tiers]
    graph.lines += reasons(graph)


def tier_text(tier: Tier, graph: GraphTiers) -> str:
    """Return the state of a tier with its times: ``built in 33.1 s, swapped in after 48.1 s``."""
    if tier.name == "cuda_graphs":
        return _graphs_text(tier)
    seconds = "" if tier.seconds is None else f" in {tier.seconds:.1f} s"
    if tier.name == "python":
        return f"compiled{seconds}"
    gain = "" if tier.gain is None else f", {tier.gain}"
    swapped = "" if graph.swapped_s is None else f", swapped in after {graph.swapped_s:.1f} s"
    built = "from the cache" if tier.cached else f"built{seconds}{swapped}"
    # A graph that is pinned to the Python wrapper does not wait for the check.
    is_awaited = not graph.pinned or graph.pinned_to == "cpp"
    checked = ", checked at the next call" if is_awaited else ""
    words = {
        "serves": f"{built}{gain}",
        "replaced": f"{built}{gain}",
        "waits": "build queued",
        "builds": "being built",
        "checks": f"built{seconds}{checked}",
        "checked": f"built{seconds}, checked",
        "failed": "failed before, not built again" if tier.cached else "failed",
        "unwanted": "not built" if tier.gain is None else f"{built}{gain}, not used",
    }
    return words.get(tier.state, tier.state)  # of a file: any state may stand at any tier


def reasons(graph: GraphTiers) -> list[str]:
    """Return why tiers of a graph failed or are unwanted, each reason once, and who shares it."""
    whys = [tier.problem.why if tier.problem is not None else tier.why for tier in graph.tiers]
    if graph.shared:
        whys.append(_SHARED.format(graph.compilation, graph.kind))
    return list(dict.fromkeys(why for why in whys if why))


def _graphs_text(tier: Tier) -> str:
    seconds = "" if tier.seconds is None else f" in {tier.seconds:.2g} s"
    swapped = "" if tier.swapped_s is None else f", swapped in after {tier.swapped_s:.1f} s"
    gain = "" if tier.gain is None else f", {tier.gain}"
    pool = "" if tier.pool_bytes is None else f", pool {size(tier.pool_bytes)}"
    return {
        "waits": "wait for the C++ wrapper",
        "records": "recorded by the next calls",
        "failed": "failed",
        "unwanted": "not recorded",
    }.get(tier.state, f"recorded{seconds}{swapped}{gain}{pool}")
