"""What the inspector costs: a compilation that it listens to, and a compiled function afterwards.

    python benchmarks/overhead.py [--repeats 7]

Two measurements, both in one process:

- *Compiling*: the first call of a compiled function, with and without the inspector listening, in
  turns, caches empty each time. The ratio is the median of the pairs' ratios; at most 1.10.
- *Afterwards*: the steady call of a compiled function, timed in turns with an identical one; then
  the first of them is inspected, and both are timed again. Its time over the other's, after over
  before, is 1.0 within noise. No frame may be compiled anew.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import compilescope
import torch
from compilescope.compiler.watching import watching
from compilescope.measure.timing import time_calls
from subjects import SUBJECTS, tiny


def main() -> None:
    """Measures, and prints what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--only", action="append", help="a subject: mlp, transformer or training")
    options = parser.parse_args()
    _first_call(tiny(), listen=True)
    print("compiling, medians of pairs: with the inspector over without")
    for name in options.only or list(SUBJECTS):
        pairs = [
            _pair(SUBJECTS[name], with_first=index % 2 == 0) for index in range(options.repeats)
        ]
        ratios = sorted(with_it / without for with_it, without in pairs)
        print(
            f"  {name:12} {statistics.median(ratios):5.3f}  ({ratios[0]:.3f} to {ratios[-1]:.3f})  "
            f"{statistics.median(one for one, _ in pairs):.3f} s with, "
            f"{statistics.median(one for _, one in pairs):.3f} s without"
        )
    print("afterwards, median of a steady call: after an inspection over before")
    for name in options.only or list(SUBJECTS):
        _afterwards(name)


def _pair(make: Callable[[], Any], *, with_first: bool) -> tuple[float, float]:
    """Seconds of the first call, with the inspector and without."""
    seconds = {
        listen: _first_call(make(), listen=listen) for listen in (with_first, not with_first)
    }
    return seconds[True], seconds[False]


def _first_call(subject: Any, *, listen: bool) -> float:
    fn, args = subject
    torch.compiler.reset()
    with _empty_cache(), watching() if listen else nullcontext() as watched:
        start = time.perf_counter()
        output = torch.compile(fn)(*args)
        if output.requires_grad:
            output.backward()
        seconds = time.perf_counter() - start
    if watched is not None and not watched.records:
        raise SystemExit("The inspector heard nothing: there is nothing to measure.")
    return seconds


def _afterwards(name: str) -> None:
    torch.compiler.reset()
    with _empty_cache():
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


@contextmanager
def _empty_cache() -> Iterator[None]:
    folder = tempfile.mkdtemp()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = str(Path(folder) / "triton")
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    main()
