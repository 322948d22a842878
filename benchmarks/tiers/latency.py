"""Calls of all ways in turns, before the swap and after it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from .calls import BLOCK_US, LEAST, SECONDS, WAYS, Call, check, compiled, make, wait


def latency(name: str, device: str) -> list[dict[str, Any]]:
    """In a process that has all three: calls in turns, before the swap and after it."""
    import compilescope as cs
    from compilescope.tiers.alternating_calls import CALLS
    from compilescope.tiers.builder import builder

    calls = {way: compiled(way, name, make(name, device)) for way in WAYS}
    for call in calls.values():
        call()
    wait(device)
    is_built = lambda: builder().wait(0)  # noqa: E731
    before = in_turns(calls, device, is_built)
    builder().wait()
    check(calls["tiers"])
    # Both wrappers take turns at first, which tells what the swap gained.
    for _ in range(2 * (CALLS + 1)):
        calls["tiers"]()
    wait(device)
    serving = [graph.serving for graph in cs.tiers(calls["tiers"].function)]  # type: ignore[attr-defined]
    after = in_turns(calls, device, lambda: False)
    return [{"phase": "before", **before}, {"phase": "after", **after, "serving": serving}]


def in_turns(calls: dict[str, Call], device: str, is_over: Callable[[], bool]) -> dict[str, Any]:
    """How long a call takes, and how that of tiers stands to the others: medians, quartiles."""
    clock = clock_of(device)

    def block(way: str, count: int) -> float:
        call = calls[way]
        start = clock()
        for _ in range(count):
            call()
        wait(device)
        return (clock() - start) * 1e6 / count

    count = max(1, round(BLOCK_US / max(block("python", 5), 1.0)))
    rounds: dict[str, list[float]] = {way: [] for way in WAYS}
    end = time.perf_counter() + SECONDS
    while len(rounds["tiers"]) < LEAST or not (is_over() or time.perf_counter() > end):
        shift = len(rounds["tiers"]) % len(WAYS)
        for way in (*WAYS[shift:], *WAYS[:shift]):
            rounds[way].append(block(way, count))
    row: dict[str, Any] = {f"{way}_us": statistics.median(rounds[way]) for way in WAYS}
    for other in ("python", "cpp"):
        pairs = zip(rounds["tiers"], rounds[other], strict=True)
        low, middle, high = statistics.quantiles(own / other_us for own, other_us in pairs)
        row |= {f"to_{other}": middle, f"to_{other}_quartiles": [low, high]}
    return {**row, "rounds": len(rounds["tiers"])}


def clock_of(device: str) -> Callable[[], float]:
    """On the CPU this process's time, which what else the machine does is not in."""
    return time.perf_counter if device == "cuda" else time.process_time
