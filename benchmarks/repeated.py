"""What an inspection keeps when it is repeated: objects, memory, and torch's own tables.

    python benchmarks/repeated.py [--times 200] [--run]
    python benchmarks/repeated.py --flips [--times 100]

Inspects one small module again and again. ``--run`` builds and calls it as well, which takes a C++
compiler and a few seconds each. ``--flips`` flips switches of a GPT with two layers instead, as a
panel does: between the Python wrapper, the C++ wrapper and ``max-autotune-no-cudagraphs``. It
inspects the GPT again after every five flips, so that code is generated for each switch.
"""

from __future__ import annotations

import argparse
import contextvars
import gc
import linecache
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import compilescope as cs
import torch
from compilescope.session.session import get_session
from real_subjects import gpt
from torch._dynamo import convert_frame
from torch.fx import graph_module

WARM_UP = 20
"""Inspections or flips after which torch and Python have loaded and remembered what they need."""


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


FLIPPED = (cs.Variant(cpp_wrapper=True), cs.Variant(mode="max-autotune-no-cudagraphs"))
"""The first is generated in advance, the second when it is requested."""


def inspections(*, run: bool) -> Iterator[None]:
    """Inspects a Linear and a LayerNorm with both wrappers at each step."""
    while True:
        cs.inspect(MODULE, ARGUMENTS, run=run)
        yield


def flips() -> Iterator[None]:
    """Flips a switch of a GPT with two layers at each step."""
    fn, args = gpt(256)(False, 2)
    jobs = get_session().panel_jobs
    with ThreadPoolExecutor(1) as subshell:
        while True:
            report = cs.inspect(fn, args, variants=("python",), run=False)
            for variant in (*FLIPPED, cs.Variant(), *FLIPPED):
                _, job = subshell.submit(jobs.sources, report.subject.id, variant).result()
                if job is not None:
                    job.ended.wait()
                yield


def repeat(
    steps: Iterator[None], times: int, report_progress: Callable[[int], None] = lambda time: None
) -> None:
    """Takes so many steps."""
    for time in range(1, times + 1):
        next(steps)
        report_progress(time)


def resident_mb() -> float:
    """The process's memory, on Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--flips", action="store_true")
    options = parser.parse_args()
    times = options.times or (100 if options.flips else 200)
    steps = flips() if options.flips else inspections(run=options.run)
    repeat(steps, WARM_UP)
    before, memory = Kept(), resident_mb()
    print(f"{'flips' if options.flips else 'inspections':>11} {'objects':>9} {'MB':>8}")
    print(f"{0:>11} {before.objects:>9} {memory:>8.1f}", flush=True)

    def report_progress(time: int) -> None:
        if time % max(times // 10, 1) == 0:
            print(f"{time:>11} {Kept().objects:>9} {resident_mb():>8.1f}", flush=True)

    repeat(steps, times, report_progress)
    grown = Kept().since(before)
    print("By kind: " + (", ".join(f"{kind} {more:+}" for kind, more in grown.items()) or "flat"))


if __name__ == "__main__":
    main()
