"""What the inspector costs: a compilation that it listens to, and a compiled function afterwards.

    python benchmarks/overhead.py [--repeats 7]

Two measurements, both in one process:

- *Compiling*: the first call of a compiled function, with and without the inspector listening, in
  turns, all of torch's caches empty each time. The ratio is the median of the pairs' ratios, on the
  wall clock and in processor time (of this process and of the C++ compiler), which other work on
  the machine disturbs less; at most 1.10.
- *Afterwards*: the steady call of a compiled function, timed in turns with an identical one; then
  the first of them is inspected, and both are timed again. Its time over the other's, after over
  before, is 1.0 within noise. No frame may be compiled anew.

One thread computes: with more, a busy machine makes their waiting for each other the measurement.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import compilescope
import torch
from compilescope.measure.timing import time_calls
from compilescope.watching.running_code import watching
from subjects import SUBJECTS, tiny
from torch._inductor.utils import fresh_cache

Seconds = tuple[float, float]


def main() -> None:
    """Measures, and prints what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", action="append", help="a subject: mlp, transformer or training")
    options = parser.parse_args()
    _first_call(tiny(), listen=True)
    print("compiling, medians of pairs: with the inspector over without")
    for name in options.only or list(SUBJECTS):
        make = SUBJECTS[name]
        pairs = [_pair(make, with_first=index % 2 == 0) for index in range(options.repeats)]
        for clock, unit in enumerate(("wall clock", "processor")):
            ratios = sorted(heard[clock] / alone[clock] for heard, alone in pairs)
            print(
                f"  {name:12} {unit:10} {statistics.median(ratios):6.3f} "
                f"({ratios[0]:.3f} to {ratios[-1]:.3f}), "
                f"{statistics.median(heard[clock] for heard, _ in pairs):.3f} s with, "
                f"{statistics.median(alone[clock] for _, alone in pairs):.3f} s without"
            )
    print("afterwards, median of a steady call: after an inspection over before")
    for name in options.only or list(SUBJECTS):
        _afterwards(name)


def _pair(make: Callable[[], Any], *, with_first: bool) -> tuple[Seconds, Seconds]:
    """The first call with the inspector and without, in either order."""
    seconds = {
        listen: _first_call(make(), listen=listen) for listen in (with_first, not with_first)
    }
    return seconds[True], seconds[False]


def _first_call(subject: Any, *, listen: bool) -> Seconds:
    """Seconds on the wall clock and of processor time."""
    fn, args = subject
    torch.compiler.reset()
    with fresh_cache(), watching() if listen else nullcontext() as watched:
        start, used = time.perf_counter(), sum(os.times()[:4])
        output = torch.compile(fn)(*args)
        if output.requires_grad:
            output.backward()
        seconds = time.perf_counter() - start, sum(os.times()[:4]) - used
    if watched is not None and not watched.records:
        raise SystemExit("The inspector heard nothing: there is nothing to measure.")
    return seconds


def _afterwards(name: str) -> None:
    torch.compiler.reset()
    with fresh_cache():
        (fn, args), (other, other_args) = SUBJECTS[name](), SUBJECTS[name]()
        compiled, reference = torch.compile(fn), torch.compile(other)
        calls = {"eager": lambda: reference(*other_args), "compiled": lambda: compiled(*args)}
        for call in calls.values():
            call()
        # Three looks before and after: what lies between looks of one side is the noise.
        before = [_ratio(calls) for _ in range(3)]
        compilescope.inspect(fn, args, run=False)
        with torch.compiler.set_stance("fail_on_recompile"):
            after = [_ratio(calls) for _ in range(3)]
    print(
        f"  {name:12} {statistics.median(after) / statistics.median(before):5.3f}  "
        f"(before {min(before):.3f} to {max(before):.3f}, "
        f"after {min(after):.3f} to {max(after):.3f})"
    )


def _ratio(calls: dict[str, Callable[[], object]]) -> float:
    times = time_calls(calls, budget_s=2.0)
    return times["compiled"].median_us / times["eager"].median_us


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    main()
