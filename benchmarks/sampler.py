"""Whether the sampler's timings can be believed.

    python benchmarks/sampler.py [--quick] [--only equal]

Four claims, each with the figures; exits with 1 if one is not met.

- *equal*: a call against itself is called different in at most 5 % of the runs. Two models, short
  runs as for a cell's first answer and longer ones as in the live view. The share of runs is shown
  too in which at least one of ten looks on the way said so; nothing is claimed of it.
- *slower*: a call against the same with 3 % more (it spins for 3 % of what the call was measured to
  take just before) is called slower in most runs. The ratio is shown: 0.971 is right.
- *agrees*: the median is within 5 % of that of torch.utils.benchmark's ``Timer.blocked_autorange``
  on the CPU, and the device's time within 5 % of triton's ``do_bench`` on the GPU, if there is one.
  Both are taken in turns, and the median of the pairs' ratios counts. ``do_bench`` clears the L2
  cache before each call and the sampler does not, so the calls move gigabytes, or compute for long.
- *cheap*: what 5,000 rounds of six calls say is found out in less than 20 ms for each.

One thread computes: with more, a busy machine makes their waiting for each other the measurement.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
from compilescope.analysis.figures.intervals import median_interval, ratio
from compilescope.measure.sampler import Sampler
from subjects import SUBJECTS
from torch.utils.benchmark import Timer

Call = Callable[[], object]

_LOOKS = 10
_SLOWER = 0.03
_DIFFERENT_AT_MOST = 0.05
_APART_AT_MOST = 0.05
_TIMING_AT_MOST_MS = 20.0


def main() -> None:
    """Measures, prints what was found, and exits with 1 if a claim is not met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="short and few runs: does it work?")
    parser.add_argument("--only", action="append", choices=list(_CLAIMS))
    options = parser.parse_args()
    met = {name: _CLAIMS[name](quick=options.quick) for name in options.only or _CLAIMS}
    for name, is_met in met.items():
        print(f"{name}: {'met' if is_met else 'NOT MET'}")
    sys.exit(not all(met.values()))


def equal(*, quick: bool) -> bool:
    """A call against itself."""
    runs = 30 if quick else 60
    lengths = {"short": 0.2} if quick else {"short": 0.8, "long": 4.0}
    print("a call against itself: called different")
    detected = total = 0
    for length, seconds in lengths.items():
        for name in ("mlp", "transformer"):
            call = _model(name)
            verdicts = [_equal_run(call, seconds) for _ in range(runs)]
            last = sum(verdict[-1] for verdict in verdicts)
            looks = sum(any(verdict) for verdict in verdicts)
            detected, total = detected + last, total + runs
            print(
                f"  {name:12} {length:6} {seconds:3.1f} s  {_share(last, runs)}"
                f"  at one of {_LOOKS} looks at least: {looks / runs:.1%}"
            )
    print(f"  {'all':12} {'':12}  {_share(detected, total)}")
    return detected / total <= _DIFFERENT_AT_MOST


def slower(*, quick: bool) -> bool:
    """A call against the same with a little more."""
    runs, seconds = (6, 1.0) if quick else (30, 3.0)
    print(f"a call that takes {_SLOWER:.0%} more: called slower")
    met = True
    training = _model("training")
    models: dict[str, Call] = {
        "10 training": lambda: [training() for _ in range(10)],
        "transformer": _model("transformer"),
    }
    for name, call in models.items():
        detected, ratios = 0, []
        for _ in range(runs):
            spin_ns = int(_wall_us(call, 0.3) * 1000 * _SLOWER)
            # Both look at the clock, so that they differ by the time alone.
            calls: dict[str, Call] = {
                "eager": partial(_and_spin, call, 0),
                "slower": partial(_and_spin, call, spin_ns),
            }
            timing = _sampled(calls, seconds).timing("slower")
            ratios.append(timing.ratio or math.nan)
            detected += bool(timing.differs) and ratios[-1] < 1
        print(
            f"  {name:12} {seconds:3.1f} s  {_share(detected, runs)}"
            f"  ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
        )
        met &= detected > runs / 2
    return met


def agrees(*, quick: bool) -> bool:
    """The sampler against torch's and triton's benchmarks."""
    pairs, seconds = (3, 0.3) if quick else (9, 1.0)
    print("over torch.utils.benchmark's median (CPU, wall clock)")
    x = torch.randn(256, 256)
    calls: dict[str, Call] = {"x + x": lambda: x + x, "x @ x": lambda: x @ x}
    calls |= {name: _model(name) for name in ("mlp", "transformer", "training")}
    apart = [
        _apart(
            name,
            pairs,
            partial(_wall_us, call, seconds),
            partial(_torch_us, call, seconds),
        )
        for name, call in calls.items()
    ]
    if torch.cuda.is_available():
        apart += _gpu(pairs, seconds)
    return max(apart) <= _APART_AT_MOST


def cheap(*, quick: bool) -> bool:
    """What it costs to look."""
    rounds, repeats = 5_000, 3 if quick else 20
    draw = random.Random(0)
    series = [[1 + draw.expovariate(20) for _ in range(rounds)] for _ in range(6)]
    took = []
    for _ in range(repeats):
        start = time.perf_counter()
        for samples in series:
            median_interval(samples)
            ratio(series[0], samples)
        took.append((time.perf_counter() - start) / len(series) * 1e3)
    print(f"a median, a ratio and their intervals of {rounds} rounds: ", end="")
    print(f"{statistics.median(took):.1f} ms ({min(took):.1f} to {max(took):.1f})")
    return statistics.median(took) < _TIMING_AT_MOST_MS


_CLAIMS = {"equal": equal, "slower": slower, "agrees": agrees, "cheap": cheap}


def _equal_run(call: Call, seconds: float) -> list[bool]:
    """What is said at some moments of a run, the last at its end."""
    sampler = _warm({"eager": lambda: call(), "same": lambda: call()})
    said = []
    start = time.perf_counter()
    for look in range(1, _LOOKS + 1):
        _sample_until(sampler, start + seconds * look / _LOOKS)
        said.append(bool(sampler.timing("same").differs))
    return said


def _sampled(calls: dict[str, Call], seconds: float, device: str = "cpu") -> Sampler:
    sampler = _warm(calls, device)
    _sample_until(sampler, time.perf_counter() + seconds)
    return sampler


def _warm(calls: dict[str, Call], device: str = "cpu") -> Sampler:
    sampler = Sampler(calls, device=device)
    for name in calls:
        sampler.warm_up(name, 0.1)
    return sampler


def _sample_until(sampler: Sampler, end: float) -> None:
    sampler.round()
    while time.perf_counter() < end:
        sampler.round()


def _model(name: str) -> Call:
    fn, args = SUBJECTS[name]()
    return lambda: fn(*args)


def _and_spin(call: Call, ns: int) -> None:
    call()
    end = time.perf_counter_ns() + ns
    while time.perf_counter_ns() < end:
        pass


def _wall_us(call: Call, seconds: float) -> float:
    return _sampled({"eager": call}, seconds).timing("eager").median_us


def _device_us(call: Call, seconds: float) -> float:
    return _sampled({"eager": call}, seconds, "cuda").timing("eager").device_us or math.nan


def _triton_us(call: Call, seconds: float) -> float:
    from triton.testing import do_bench

    return float(do_bench(call, rep=int(seconds * 1000), return_mode="median")) * 1000


def _torch_us(call: Call, seconds: float) -> float:
    timer = Timer("call()", globals={"call": call}, num_threads=torch.get_num_threads())
    return float(timer.blocked_autorange(min_run_time=seconds).median) * 1e6


def _gpu(pairs: int, seconds: float) -> list[float]:
    print("over triton.testing.do_bench's median (GPU, time on the device)")
    x, y = (torch.randn(2**28, device="cuda") for _ in "xy")
    a, b = (torch.randn(4096, 4096, device="cuda") for _ in "ab")
    z, c = torch.empty_like(x), torch.empty_like(a)
    calls = {
        "x + y, 3 GiB": lambda: torch.add(x, y, out=z),
        "4096^3": lambda: torch.mm(a, b, out=c),
    }
    return [
        _apart(name, pairs, partial(_device_us, call, seconds), partial(_triton_us, call, seconds))
        for name, call in calls.items()
    ]


def _apart(name: str, pairs: int, own: Callable[[], float], theirs: Callable[[], float]) -> float:
    """How far the two are apart, taken in turns."""
    latencies = []
    for pair in range(pairs):
        # Whoever comes first is not always the same.
        first, second = (own, theirs) if pair % 2 else (theirs, own)
        earlier, later = first(), second()
        latencies.append((earlier, later) if pair % 2 else (later, earlier))
    ratios = [own_us / other for own_us, other in latencies]
    middle = statistics.median(ratios)
    print(
        f"  {name:12} {statistics.median(own_us for own_us, _ in latencies):9.2f} µs"
        f"  ratio {middle:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    )
    return abs(middle - 1)


def _share(detected: int, runs: int) -> str:
    low, high = _binomial_interval(detected, runs)
    return f"{detected} of {runs}, {detected / runs:.1%} (95 % interval {low:.1%} to {high:.1%})"


def _binomial_interval(detected: int, runs: int) -> tuple[float, float]:
    """Clopper and Pearson's."""

    def at_most(count: int, share: float) -> float:
        return sum(
            math.comb(runs, k) * share**k * (1 - share) ** (runs - k) for k in range(count + 1)
        )

    def where(falls_to: float, count: int) -> float:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if at_most(count, middle) > falls_to else (low, middle)
        return low

    return (
        where(0.975, detected - 1) if detected else 0.0,
        where(0.025, detected) if detected < runs else 1.0,
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.set_num_threads(1)
    main()
