"""What watching costs: compiling with it on beside compiling with it off, in turns.

    python benchmarks/watch.py [--rounds 9] [--subject NAME]

Prints, per subject, the seconds of compiling and the ratio of each pair (off, on), with its median
and its spread. Processor time is what is compared: on a machine that does something else besides,
wall-clock time says more about that than about watching. The caches are off, so that every round
compiles everything but C++, whose objects are kept in a folder of its own. The steady state is
measured the same way, per call.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp(prefix="watch-benchmark-"))

import compilescope as cs
import torch
from torch import nn

Step = Callable[[], object]
CALLS = 2000


def small(backend: str = "inductor") -> Step:
    """A two-layer network, for inference."""
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 8))
    compiled = torch.compile(lambda x: model(x), backend=backend)
    x = torch.randn(16, 32)

    def step() -> object:
        with torch.no_grad():
            return compiled(x)

    return step


def traced() -> Step:
    """The same with a backend that does nothing: Dynamo's part alone, the hardest to hide in."""
    return small("eager")


def training() -> Step:
    """Forward and backward of a four-layer network."""
    layers = [layer for _ in range(4) for layer in (nn.Linear(64, 64), nn.LayerNorm(64), nn.GELU())]
    model = nn.Sequential(*layers)
    compiled = torch.compile(lambda x: model(x).square().mean())
    x = torch.randn(16, 64)

    def step() -> None:
        model.zero_grad()
        compiled(x).backward()

    return step


def transformer() -> Step:
    """Forward and backward of a transformer of twelve layers."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    compiled = torch.compile(lambda x: model(x).square().mean())
    x = torch.randn(2, 16, 64)

    def step() -> None:
        model.zero_grad()
        compiled(x).backward()

    return step


def recompiling() -> Step:
    """A function that is compiled for six sizes, with a graph break in it."""

    def body(x: torch.Tensor) -> torch.Tensor:
        x = x.sin() + 1
        torch._dynamo.graph_break()
        return x.cos() * 2

    compiled = torch.compile(body, dynamic=False)
    sizes = [torch.randn(8 + size) for size in range(6)]

    def step() -> object:
        return [compiled(x) for x in sizes]

    return step


SUBJECTS: dict[str, Callable[[], Step]] = {
    "small": small,
    "traced": traced,
    "training": training,
    "transformer": transformer,
    "recompiling": recompiling,
}


def compile_once(make: Callable[[], Step], watch: AbstractContextManager[object]) -> float:
    """Processor seconds of the first call of a fresh subject."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    with watch:
        step = make()
        gc.collect()
        start = time.process_time()
        step()
        return time.process_time() - start


def steady(step: Step) -> float:
    """Processor microseconds of a call."""
    start = time.process_time()
    for _ in range(CALLS):
        step()
    return (time.process_time() - start) / CALLS * 1e6


def compare(name: str, rounds: int) -> None:
    """Compile in turns and print."""
    make = SUBJECTS[name]
    for watch in (nullcontext(), cs.watch()):  # what is loaded and built once
        compile_once(make, watch)
    off, on, read = [], [], []
    for turn in range(rounds):
        for kind in ("off", "on") if turn % 2 else ("on", "off"):
            if kind == "off":
                off.append(compile_once(make, nullcontext()))
                continue
            with cs.watch() as report:
                on.append(compile_once(make, nullcontext()))
                start = time.process_time()
                assert report.compilations
                read.append(time.process_time() - start)
    ratios = sorted(b / a for a, b in zip(off, on, strict=True))
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [ratios[0]] * 3
    print(
        f"{name:12} off {statistics.median(off):7.3f} s  on {statistics.median(on):7.3f} s  "
        f"ratio {statistics.median(ratios):.3f} [{quartiles[0]:.3f}, {quartiles[2]:.3f}]  "
        f"of medians {statistics.median(on) / statistics.median(off):.3f}  "
        f"of minima {min(on) / min(off):.3f}  reading it {statistics.median(read):.3f} s",
        flush=True,
    )


def compare_calls(rounds: int) -> None:
    """Call what is compiled, in turns, and print."""
    torch._dynamo.reset()
    step = small()
    step()
    off, on = [], []
    for _ in range(rounds):
        off.append(steady(step))
        with cs.watch():
            on.append(steady(step))
    ratios = sorted(b / a for a, b in zip(off, on, strict=True))
    print(
        f"{'a call':12} off {statistics.median(off):7.2f} µs  on {statistics.median(on):7.2f} µs  "
        f"ratio {statistics.median(ratios):.3f} [{ratios[0]:.3f}, {ratios[-1]:.3f}]"
    )


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--subject", choices=SUBJECTS, action="append")
    options = parser.parse_args()
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {options.rounds} rounds")
    settings = torch._inductor.config.patch(fx_graph_cache=False)
    with settings, torch._functorch.config.patch(enable_autograd_cache=False):
        for name in options.subject or SUBJECTS:
            compare(name, options.rounds)
        compare_calls(options.rounds)


if __name__ == "__main__":
    main()
