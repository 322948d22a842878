"""How fast code for a GPU that is not there is there: sources, then SASS.

    python benchmarks/targets.py [--target h100] [--repeats 5]

The subject is the quickstart's model. Each figure is from a call: ``compilescope.inspect`` with
``run=False`` for the sources of the Python wrapper, then ``compilescope.study(report, "assembly")``
for every kernel's PTX and SASS.

- ``first``: the target's process starts, and becomes the device.
- ``warm``: the process is there. The shapes are others each time, so that no graph, no kernel and
  no cache of an earlier call serves: the median, and the lowest to the highest.
- ``again``: the very call of before.

The goal is a second for warm sources and two for warm SASS.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from typing import Any

GOALS_S = {"sources": 1.0, "assembly": 2.0}


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", action="append", help="a target (a100, h100, b200, mi300x)")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        print(f"{'target':8} {'what':10} {'first':>8} {'warm':>22} {'again':>8}  goal")
        for target in options.target or ["a100", "h100", "b200", "mi300x"]:
            for what, (first, warm, again) in measured(target, options.repeats).items():
                spread = f"({min(warm):.2f}-{max(warm):.2f})"
                middle = statistics.median(warm)
                reached = "reached" if middle < GOALS_S[what] else f"{GOALS_S[what]:g} s missed"
                print(
                    f"{target:8} {what:10} {first:7.2f}s {middle:7.2f}s {spread:>13} "
                    f"{again:7.2f}s  {reached}",
                    flush=True,
                )


def measured(target: str, repeats: int) -> dict[str, tuple[float, list[float], float]]:
    """Seconds of the first call, of warm ones, and of one that was made before."""
    seconds_by_goal: dict[str, list[float]] = {what: [] for what in GOALS_S}
    calls = [subject(place) for place in range(repeats + 1)]
    for model, x in [*calls, calls[-1]]:
        for what, seconds in both(target, model, x).items():
            seconds_by_goal[what].append(seconds)
    return {what: (all_[0], all_[1:-1], all_[-1]) for what, all_ in seconds_by_goal.items()}


def subject(place: int) -> tuple[Any, Any]:
    """The quickstart's model, in sizes of its own."""
    import torch
    from torch import nn

    width, rows = 64 + 16 * place, 32 + 8 * place
    model = nn.Sequential(
        nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.LayerNorm(width)
    )
    return model.eval().requires_grad_(False), torch.randn(rows, width)


def both(target: str, model: Any, x: Any) -> dict[str, float]:
    """Seconds for the sources, and then for the assembly."""
    import compilescope as cs

    variant = {"target": cs.Variant(target=target)}
    sources_s, report = _timed(lambda: cs.inspect(model, (x,), variants=variant, run=False))
    assembly_s, report = _timed(lambda: cs.study(report, "assembly"))
    _check(report)
    return {"sources": sources_s, "assembly": assembly_s}


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def _check(report: Any) -> None:
    """Quick code is worth nothing if it is not there."""
    (variant,) = report.variants
    kernels = [kernel for compilation in variant.compilations for kernel in compilation.kernels]
    triton = [kernel for kernel in kernels if kernel.language == "triton"]
    final = {"sass", "amdgcn"}
    if not triton or not all(final & set(kernel.assembly) for kernel in triton):
        raise SystemExit(f"Code is missing. {variant.problems} {variant.absent}")


if __name__ == "__main__":
    main()
