"""The third tier: CUDA graphs of the C++ wrapper."""

from __future__ import annotations

import statistics
import time
from typing import Any

from .calls import BLOCK_US, LEAST, SECONDS, Call, make, wait


def graphs(name: str, device: str) -> list[dict[str, Any]]:
    """In one process: calls while the third tier comes, then each tier in turns."""
    import compilescope as cs
    import torch
    from compilescope.tiers.backend import ALL_TIERS
    from compilescope.tiers.builder import builder

    fn, args = make(name, device)
    function = cs.tiered(fn, tiers=ALL_TIERS)
    other_fn, other_args = make(name, device)
    other = torch.compile(other_fn, mode="reduce-overhead")

    def call_of(compiled: Any, args: tuple[Any, ...]) -> Call:
        def call() -> Any:
            result = compiled(*args)
            if result.requires_grad:
                result.backward()
            return None

        return call

    for eager, its_args in ((fn, args), (other_fn, other_args)):
        # Gradients are added up where they are now: in memory that no replay writes to.
        call_of(eager, its_args)()
    calls = {"tiers": call_of(function, args), "reduce-overhead": call_of(other, other_args)}
    calls["tiers"]()
    for _ in range(5):
        calls["reduce-overhead"]()
    builder().wait()
    longest: dict[str, float] = {}
    counts: dict[str, int] = {}
    while any(graph.tiers[2].gain is None for graph in cs.tiers(function)):
        if any(graph.tiers[2].state in ("unwanted", "failed") for graph in cs.tiers(function)):
            raise RuntimeError(str(cs.tiers(function)))
        before = cs.tiers(function)
        states = {tier.state for graph in before for tier in graph.tiers}
        phase = next((state for state in ("checks", "records") if state in states), "other")
        start = time.perf_counter()
        calls["tiers"]()
        wait(device)
        ms = (time.perf_counter() - start) * 1e3
        if phase == "records":
            phase = f"records, call {counts.get('records', 0) + 1}"
            counts["records"] = counts.get("records", 0) + 1
        longest[phase] = max(longest.get(phase, 0.0), ms)
    tiers = cs.tiers(function)
    rows: dict[str, list[float]] = {way: [] for way in (*ALL_TIERS, "reduce-overhead")}

    def block(way: str, count: int) -> float:
        call = calls["tiers" if way in ALL_TIERS else way]
        if way in ALL_TIERS:
            cs.pin_tier(function, None if way == ALL_TIERS[-1] else way)
            serving = {graph.serving for graph in cs.tiers(function)}
            assert serving == {way}, serving
        for _ in range(3):
            call()
        wait(device)
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait(device)
        return (time.perf_counter() - start) * 1e6 / count

    count = max(1, round(BLOCK_US / max(block("python", 5), 1.0)))
    end = time.perf_counter() + SECONDS / 2
    ways = tuple(rows)
    while time.perf_counter() < end or len(rows["python"]) < LEAST:
        shift = len(rows["python"]) % len(ways)
        for way in (*ways[shift:], *ways[:shift]):
            rows[way].append(block(way, count))
    row: dict[str, Any] = {f"{way}_us": statistics.median(times) for way, times in rows.items()}
    for way in ways:
        pairs = zip(rows["cuda_graphs"], rows[way], strict=True)
        low, middle, high = statistics.quantiles(own / other_us for own, other_us in pairs)
        row |= {f"to_{way}": middle, f"to_{way}_quartiles": [low, high]}
    return [
        {"phase": "swap", "longest_ms": longest},
        {
            "phase": "graphs",
            **row,
            "rounds": len(rows["python"]),
            "pool_bytes": [graph.tiers[2].pool_bytes for graph in tiers],
            "record_s": [graph.tiers[2].seconds for graph in tiers],
            "swapped_s": [graph.tiers[2].swapped_s for graph in tiers],
            "tiers": str(tiers),
        },
    ]
