"""What an inspection keeps when it is repeated: objects, memory, and torch's own tables.

    python benchmarks/repeated.py [--times 200] [--run]

Inspects one small module again and again. ``--run`` builds and calls it as well, which takes a C++
compiler and a few seconds each.
"""

from __future__ import annotations

import argparse
import contextvars
import gc
import linecache
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import compilescope as cs
import torch
from torch._dynamo import convert_frame
from torch.fx import graph_module

WARM_UP = 20
"""Inspections after which torch and Python have loaded and remembered what they need."""


class Kept:
    """What is alive in this process now."""

    def __init__(self) -> None:
        for _ in range(3):  # what goes may let more go
            gc.collect()
        self.kinds = Counter(str(type(item)) for item in gc.get_objects())
        self.objects = sum(self.kinds.values())
        self.tables = {
            "context variables": len(contextvars.copy_context()),
            "lines of files": len(linecache.cache),
            "lines of graph modules": len(graph_module._loader.eval_cache),
            "modules": len(sys.modules),
            "code that was compiled": len(convert_frame.input_codes.seen),
            "code that Dynamo made": len(convert_frame.output_codes.seen),
        }

    def since(self, before: Kept) -> dict[str, int]:
        """What there is more or less of, by kind and by table."""
        kinds = {kind: self.kinds[kind] - before.kinds[kind] for kind in self.kinds | before.kinds}
        tables = {name: size - before.tables[name] for name, size in self.tables.items()}
        return {name: more for name, more in {**kinds, **tables}.items() if more}


MODULE = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8))
"""One for all: the session keeps the last report of each module."""
ARGUMENTS = (torch.randn(4, 8),)


def repeat(
    times: int, *, run: bool, report_progress: Callable[[int], None] = lambda time: None
) -> None:
    """Inspects a Linear and a LayerNorm with both wrappers, time after time."""
    for time in range(1, times + 1):
        cs.inspect(MODULE, ARGUMENTS, run=run)
        report_progress(time)


def resident_mb() -> float:
    """The process's memory, on Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--run", action="store_true")
    options = parser.parse_args()
    repeat(WARM_UP, run=options.run)
    before, memory = Kept(), resident_mb()
    print(f"{'inspections':>11} {'objects':>9} {'MB':>8}")
    print(f"{0:>11} {before.objects:>9} {memory:>8.1f}", flush=True)

    def report_progress(time: int) -> None:
        if time % max(options.times // 10, 1) == 0:
            print(f"{time:>11} {Kept().objects:>9} {resident_mb():>8.1f}", flush=True)

    repeat(options.times, run=options.run, report_progress=report_progress)
    grown = Kept().since(before)
    print("By kind: " + (", ".join(f"{kind} {more:+}" for kind, more in grown.items()) or "flat"))


if __name__ == "__main__":
    main()
