"""What is done with thousands of guards: read, kept, measured, asked.

    python benchmarks/guards.py [--tensors 850]

A function of a list of tensors, each of which is guarded by six expressions.

- *reading* the printed tree,
- *keeping* the guards when the function is compiled: its part of the compile time,
- *measuring* what they cost, in the time set for it, how many of them that reaches, and whether the
  parts add up to the whole,
- *asking* what another call would meet.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import compilescope
import torch
from compilescope.analysis.guards.guard_tree import parse_guards
from compilescope.guards.reported_costs import SECONDS
from compilescope.measure.guard_costs import measure_guards
from compilescope.torch_api.guards import guard_managers as guard_keeping
from compilescope.torch_api.guards.guard_managers import KeptGuards, collecting_guards


def main() -> None:
    """Measures, and prints what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tensors", type=int, default=850)
    tensors = [torch.randn(2) for _ in range(parser.parse_args().tensors)]

    def summed(values: list[torch.Tensor]) -> torch.Tensor:
        return torch.stack(values).sum()

    compiled = torch.compile(summed, backend="eager")
    kept_guards: list[KeptGuards] = []
    start = time.perf_counter()
    with collecting_guards(kept_guards.append, values=True):
        compiled(tensors)
    whole = time.perf_counter() - start
    guards = kept_guards[0]
    text = str(guards.manager)
    count = len(parse_guards(text).guards)
    print(f"{count} guards; compiled in {whole:.1f} s")
    print(f"reading    {_ms(lambda: parse_guards(text)):8.1f} ms")
    helpers = _ms(lambda: guard_keeping._helpers(guards.manager))
    print(f"keeping    {helpers:8.3f} ms ({helpers / whole / 10:.3f} % of compiling)")
    start = time.perf_counter()
    costs = measure_guards(guards, {"values": tensors}, budget_s=SECONDS)
    took = time.perf_counter() - start
    known, nodes = len(costs.subtrees), len(costs.nodes)
    print(f"measuring  {took * 1000:8.1f} ms: {known} of {nodes} nodes, {len(costs.guards)} guards")
    print(f"           a check of all takes {costs.subtrees[0] / 1000:.1f} µs")
    parts = sum(costs.subtrees.get(i, 0) for i, node in enumerate(costs.nodes) if node.parent == 0)
    print(f"           its parts add up to {parts / costs.subtrees[0]:.2f} of that")
    print(f"asking     {_ms(lambda: compilescope.what_if(compiled, tensors)):8.1f} ms: it holds")
    others = [*tensors[:-1], torch.randn(3)]
    print(f"           {_ms(lambda: compilescope.what_if(compiled, others)):8.1f} ms: it fails")


def _ms(work: Callable[[], Any], times: int = 5) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken) * 1000


if __name__ == "__main__":
    main()
