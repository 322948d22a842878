"""First calls of new processes."""

from __future__ import annotations

import time
from typing import Any

from .calls import check, compiled, cpu_s, make, wait


def first_call(way: str, name: str, device: str) -> dict[str, Any]:
    """In a new process: how long the first call takes; tiers then swap."""
    import compilescope as cs
    from compilescope.tiers.builder import builder

    model = make(name, device)
    wait(device)
    start, spent = time.perf_counter(), cpu_s()
    call = compiled(way, name, model)
    call()
    wait(device)
    row: dict[str, Any] = {"first_s": time.perf_counter() - start, "cpu_s": cpu_s() - spent}
    if way == "tiers":
        row["serving_first"] = [graph.serving for graph in cs.tiers(call.function)]  # type: ignore[attr-defined]
        builder().wait()
        check(call)
        tiers = cs.tiers(call.function)  # type: ignore[attr-defined]
        row["serving"] = [graph.serving for graph in tiers]
        row["build_s"] = [graph.tiers[1].seconds for graph in tiers]
        row["load_s"] = [graph.tiers[1].load_s for graph in tiers]
        row["swapped_s"] = [graph.swapped_s for graph in tiers]
        problems = [graph.tiers[1].problem for graph in tiers]
        row["problems"] = [problem.why for problem in problems if problem is not None]
    return row
