"""The slowest calls around the swap."""

from __future__ import annotations

import statistics
import time
from typing import Any

from .calls import compiled, make, wait


def swap(name: str, device: str, place: str) -> list[dict[str, Any]]:
    """In one process: the slowest calls around the swap, and others in their place.

    With the check where it is safe, or, for comparison, in a ``"call"``.
    """
    import compilescope as cs
    import torch
    from compilescope.tiers import background
    from compilescope.tiers.tiered_graph import TieredGraph

    events: list[tuple[str, float, float]] = []
    graphs: set[TieredGraph] = set()

    def noted(method: str) -> None:
        original = getattr(TieredGraph, method)

        def call(self: TieredGraph, *args: Any) -> Any:
            graphs.add(self)
            start = time.perf_counter()
            try:
                return original(self, *args)
            finally:
                events.append((method, start, time.perf_counter()))

        setattr(TieredGraph, method, call)

    for method in ("prepare", "load", "_settle", "_end_turns"):
        noted(method)
    if place == "call":
        TieredGraph._is_checked_in_background = (  # type: ignore[method-assign]
            lambda self, compiled: False
        )
    call = compiled("tiers", name, make(name, device))
    times: list[tuple[float, float]] = []

    def timed() -> None:
        start = time.perf_counter()
        call()
        wait(device)
        times.append((start, time.perf_counter()))

    def is_over() -> bool:
        # Not by `cs.tiers`, which walks the guards: that takes longer than many calls.
        seconds = [graph.report_now.tiers[1] for graph in graphs]
        return all(second.gain or second.problem for second in seconds)

    call()
    while not is_over():
        timed()
    background.wait()
    if device == "cuda":
        allocated = torch.cuda.memory_allocated()
    # They change when the load ends, when the check does, and when the turns do.
    begin = min(start for method, start, _ in events if method != "prepare")
    loaded, settled, over = (
        max((end for method, _, end in events if method == wanted), default=begin)
        for wanted in ("load", "_settle", "_end_turns")
    )
    ends = {"load": loaded, "check": settled, "turns": over}
    around = sum(1 for start, end in times if end >= begin and start <= over)
    for _ in range(max(100, around)):
        timed()
    rows = []
    python_us = statistics.median((end - start) * 1e6 for start, end in times if end < begin)
    quiet = [(end - start) * 1e6 for start, end in times if start > over]
    first = begin
    for phase, last in ends.items():
        during = [(end - start) * 1e6 for start, end in times if end >= first and start <= last]
        rows.append({"part": phase, **slowest(during, python_us), "seconds": last - first})
        first = last
    before = [(end - start) * 1e6 for start, end in times if end < begin][-len(quiet) :]
    rows.append({"part": "before", **slowest(before, python_us)})
    rows.append({"part": "after", **slowest(quiet, statistics.median(quiet))})
    tiers = str(cs.tiers(call.function))  # type: ignore[attr-defined]
    summary: dict[str, Any] = {"part": "all", "python_us": python_us, "tiers": tiers}
    if device == "cuda":
        summary["allocated_bytes"] = allocated
    return [{"phase": "swap", **row} for row in (*rows, summary)]


def slowest(times_us: list[float], median_us: float) -> dict[str, Any]:
    """Of some calls, the slowest over a median, and how many took more than twice that."""
    return {
        "calls": len(times_us),
        "slowest_us": max(times_us, default=0.0),
        "slowest_to_median": max(times_us, default=0.0) / median_us,
        "over_twice": sum(1 for time_us in times_us if time_us > 2 * median_us),
    }
