"""Tiers against the Python and the C++ wrapper: first calls, and latency before and after the swap.

    python benchmarks/tiered.py --out tiered.jsonl [--models small,gpt] [--rounds 3]
    python benchmarks/tiered.py --out tiered.jsonl --device cuda --models gpt2,bert
    python benchmarks/tiered.py --graphs --device cuda --models gpt-4,gpt-4-training
    python benchmarks/tiered.py --swap --models gpt2,mlp
    python benchmarks/tiered.py --table tiered.jsonl … [--chart tiered.html]

*First calls*, with the call of ``torch.compile``, are those of new processes that have loaded torch
and compilescope, in an empty cache folder (cold) and in the one that the cold process of the same
way left (warm, ``--cached`` times; the tiers had time to swap). The ways take turns; the ratio is
the median of the turns' ratios to the Python wrapper.

*Latency* is taken in one process that has all three, in turns: before the swap, while the C++
wrapper is built, and after it. The ratios are medians over rounds, with quartiles. On the CPU it is
processor time.

*Swap* (``--swap``) times every call from the load of the C++ wrapper to the end of the calls that
take turns, by wall clock, and as many calls afterwards: the slowest of each over their median, and
how many take more than twice that. Calls are called one after the other.

*CUDA graphs* (``--graphs``) are the third tier: the longest calls while it comes, and then the
latency of each tier, to which the graphs are pinned in turns, beside ``mode="reduce-overhead"``.
Times include waiting for the GPU: at the end of each call, or of a block of calls.

Each row is written as soon as it is known: one JSON object a line. ``--models`` also takes those of
``benchmarks/wrappers.py``. ``--table`` prints the medians of such files, ``--chart`` draws the
first calls. What was measured is kept in ``benchmarks/results``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiers.calls import WAYS
from tiers.first_calls import first_call
from tiers.graphs import graphs
from tiers.latency import latency
from tiers.results import Measured
from tiers.swap import swap


def process(caches: Path, *arguments: str) -> Any:
    """What a new process gives whose caches of torch are in a folder."""
    done = subprocess.run(
        [sys.executable, __file__, "--process", *arguments],
        env=os.environ
        | {
            "TORCHINDUCTOR_CACHE_DIR": str(caches),
            "TRITON_CACHE_DIR": str(caches / "triton"),
        },
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def measure(name: str, options: argparse.Namespace, write: Callable[..., None]) -> None:
    """Measures one model."""
    if options.swap:
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as folder:
                for row in process(Path(folder), "swap", name, options.device, options.check):
                    write(model=name, what="swap", check=options.check, **row)
        return
    if options.graphs:
        with tempfile.TemporaryDirectory() as folder:
            for row in process(Path(folder), "graphs", name, options.device):
                write(model=name, what="CUDA graphs", **row)
        return
    firsts: dict[tuple[str, str], list[dict[str, float]]] = {}
    ways = tuple(options.ways.split(","))
    for number in range(options.rounds):
        shift = number % len(ways)
        with tempfile.TemporaryDirectory() as folder:
            for repeat in range(1 + options.cached):
                phase = "warm" if repeat else "cold"
                for way in (*ways[shift:], *ways[:shift]):
                    row = process(Path(folder, way), "first", way, name, options.device)
                    at = len(firsts.setdefault((phase, way), []))
                    firsts[phase, way].append(row)
                    write(model=name, what="first call", phase=phase, way=way, round=at, **row)
    for phase in ("cold", "warm") if firsts else ():
        for way in ways:
            figures = {}
            for figure in ("first_s", "cpu_s"):
                own, python = (
                    [row[figure] for row in firsts[phase, compared]] for compared in (way, "python")
                )
                ratios = (
                    own_time / python_time
                    for own_time, python_time in zip(own, python, strict=True)
                )
                figures[figure] = statistics.median(own)
                figures[f"{figure}_to_python"] = statistics.median(ratios)
            write(model=name, what="median", phase=phase, way=way, **figures)
    if options.first_only:
        return
    with tempfile.TemporaryDirectory() as folder:
        for row in process(Path(folder), "latency", name, options.device):
            write(model=name, what="latency", **row)


def rounded(value: Any) -> Any:
    """The same with four digits."""
    if isinstance(value, dict):
        return {name: rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    """Measures what the command line names."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--models", default="small,gpt")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--rounds", type=int, default=3, help="0: latency only")
    parser.add_argument("--cached", type=int, default=1, help="cached first calls of each round")
    parser.add_argument("--ways", default=",".join(WAYS), help="of the first calls; python first")
    parser.add_argument("--first-only", action="store_true", help="first calls only")
    parser.add_argument("--swap", action="store_true", help="the slowest calls around a swap only")
    parser.add_argument("--check", choices=("safe", "call"), default="safe", help="with --swap")
    parser.add_argument("--graphs", action="store_true", help="the third tier only")
    parser.add_argument("--table", type=Path, nargs="+", metavar="FILE", help="print what was kept")
    parser.add_argument("--chart", type=Path, help="with --table: write the chart as a page")
    parser.add_argument("--process", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.table:
        measured = Measured(options.table)
        print(measured.table())
        if options.chart:
            measured.chart().write_html(options.chart, config={"displayModeBar": False})
        return
    if options.process:
        what, *rest = options.process
        work: dict[str, Callable[..., Any]] = {
            "first": first_call,
            "latency": latency,
            "graphs": graphs,
            "swap": swap,
        }
        print(json.dumps(work[what](*rest)))
        return

    def write(**row: Any) -> None:
        line = json.dumps(rounded(row))
        print(line, flush=True)
        if options.out is not None:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    import torch

    where = torch.cuda.get_device_name() if options.device == "cuda" else f"{os.cpu_count()} cores"
    write(torch=torch.__version__, where=where, threads=torch.get_num_threads())
    for name in options.models.split(","):
        measure(name, options, write)


if __name__ == "__main__":
    main()
