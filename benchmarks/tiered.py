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
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WAYS = ("python", "cpp", "tiers")
SECONDS = 20.0
"""How long latency is sampled after the swap, and at most before it."""
LEAST = 9
"""Rounds."""
BLOCK_US = 20_000.0
"""What one way takes in a round, about."""

Call = Callable[[], Any]


def make(name: str, device: str) -> tuple[Any, tuple[Any, ...]]:
    """A model in inference, or a training step's loss, and its input."""
    import torch
    import wrappers
    from real_subjects import gpt
    from subjects import SUBJECTS

    if name in wrappers.MODELS:
        return wrappers.make(name, device)
    torch.manual_seed(0)
    models: dict[str, Callable[[], Any]] = {
        "small": SUBJECTS["mlp"],
        "transformer": SUBJECTS["transformer"],
        "training": SUBJECTS["training"],
        "gpt": lambda: gpt(256)(False, None),
        "gpt-4": lambda: gpt(256)(False, 4),
        "gpt-4-training": lambda: gpt(256)(True, 4),
        "gpt-training": lambda: gpt(256)(True, None),
    }
    with torch.device(device):
        fn, args = models[name]()
    return fn, args


def compiled(way: str, name: str, model: tuple[Any, tuple[Any, ...]]) -> Call:
    """A call of a model under one way; it gives what it computed."""
    import torch
    import wrappers
    from compilescope.tiers.backend import tiered

    fn, args = model
    if way == "tiers":
        function = tiered(fn)
    else:
        options: dict[str, Any] = {"cpp_wrapper": way == "cpp"}
        if way == "cpp" and name in wrappers.MODELS:
            options |= wrappers.variants_of(name)["cpp"].options
        function = torch.compile(fn, options=options)

    def call() -> Any:
        result = function(*args)
        if result.requires_grad:
            result.backward()
        return result

    call.function = function  # type: ignore[attr-defined]
    return call


def wait(device: str) -> None:
    """Until the GPU has computed what was asked of it."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def cpu_s() -> float:
    """Processor time of this process and of what it has waited for, which a busy machine spares."""
    return sum(os.times()[:4])


def check(call: Call) -> None:
    """Calls a model whose C++ wrapper is built until that was checked."""
    import compilescope as cs
    from compilescope.tiers import background

    def is_checked() -> bool:
        background.wait()
        tiers = cs.tiers(call.function)  # type: ignore[attr-defined]
        return all(graph.tiers[1].state != "checks" for graph in tiers)

    while not is_checked():
        call()


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


def latency(name: str, device: str) -> list[dict[str, Any]]:
    """In a process that has all three: calls in turns, before the swap and after it."""
    import compilescope as cs
    from compilescope.tiers.builder import builder
    from compilescope.tiers.turns import CALLS

    calls = {way: compiled(way, name, make(name, device)) for way in WAYS}
    for call in calls.values():
        call()
    wait(device)
    is_built = lambda: builder().wait(0)  # noqa: E731
    before = in_turns(calls, device, is_built)
    builder().wait()
    check(calls["tiers"])
    # Both wrappers take turns at first, which tells what the swap gained.
    for _ in range(2 * (CALLS + 1)):
        calls["tiers"]()
    wait(device)
    serving = [graph.serving for graph in cs.tiers(calls["tiers"].function)]  # type: ignore[attr-defined]
    after = in_turns(calls, device, lambda: False)
    return [{"phase": "before", **before}, {"phase": "after", **after, "serving": serving}]


def swap(name: str, device: str, place: str) -> list[dict[str, Any]]:
    """In one process: the slowest calls around the swap, and others in their place.

    With the check where it is safe, or, for comparison, in a ``"call"``.
    """
    import compilescope as cs
    import torch
    from compilescope.tiers import background
    from compilescope.tiers.tiered_graph import TieredGraph

    events: list[tuple[str, float, float]] = []

    def noted(method: str) -> None:
        original = getattr(TieredGraph, method)

        def call(self: TieredGraph, *args: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(self, *args)
            finally:
                events.append((method, start, time.perf_counter()))

        setattr(TieredGraph, method, call)

    for method in ("take", "_settle", "_end_turns"):
        noted(method)
    if place == "call":
        TieredGraph._is_checked_in_background = (  # type: ignore[method-assign]
            lambda self, compiled: False
        )
    call = compiled("tiers", name, make(name, device))
    times: list[tuple[float, float]] = []

    def timed() -> None:
        start = time.perf_counter()
        call()
        wait(device)
        times.append((start, time.perf_counter()))

    def is_over() -> bool:
        tiers = cs.tiers(call.function)  # type: ignore[attr-defined]
        return all(graph.tiers[1].gain or graph.tiers[1].problem for graph in tiers)

    call()
    while not is_over():
        timed()
    background.wait()
    if device == "cuda":
        allocated = torch.cuda.memory_allocated()
    # They change when the load ends, when the check does, and when the turns do.
    begin = min(start for _, start, _ in events)
    loaded, settled, over = (
        max((end for method, _, end in events if method == wanted), default=begin)
        for wanted in ("take", "_settle", "_end_turns")
    )
    ends = {"load": loaded, "check": settled, "turns": over}
    around = sum(1 for start, end in times if end >= begin and start <= over)
    for _ in range(max(100, around)):
        timed()
    rows = []
    python_us = statistics.median((end - start) * 1e6 for start, end in times if end < begin)
    quiet = [(end - start) * 1e6 for start, end in times if start > over]
    first = begin
    for phase, last in ends.items():
        during = [(end - start) * 1e6 for start, end in times if end >= first and start <= last]
        rows.append({"part": phase, **slowest(during, python_us), "seconds": last - first})
        first = last
    before = [(end - start) * 1e6 for start, end in times if end < begin][-len(quiet) :]
    rows.append({"part": "before", **slowest(before, python_us)})
    rows.append({"part": "after", **slowest(quiet, statistics.median(quiet))})
    tiers = str(cs.tiers(call.function))  # type: ignore[attr-defined]
    summary: dict[str, Any] = {"part": "all", "python_us": python_us, "tiers": tiers}
    if device == "cuda":
        summary["allocated_bytes"] = allocated
    return [{"phase": "swap", **row} for row in (*rows, summary)]


def slowest(times_us: list[float], median_us: float) -> dict[str, Any]:
    """Of some calls, the slowest over a median, and how many took more than twice that."""
    return {
        "calls": len(times_us),
        "slowest_us": max(times_us, default=0.0),
        "slowest_to_median": max(times_us, default=0.0) / median_us,
        "over_twice": sum(1 for time_us in times_us if time_us > 2 * median_us),
    }


def graphs(name: str, device: str) -> list[dict[str, Any]]:
    """In one process: calls while the third tier comes, then each tier in turns."""
    import compilescope as cs
    import torch
    from compilescope.tiers.backend import ALL_TIERS
    from compilescope.tiers.builder import builder

    fn, args = make(name, device)
    function = cs.tiered(fn, tiers=ALL_TIERS)
    other_fn, other_args = make(name, device)
    other = torch.compile(other_fn, mode="reduce-overhead")

    def call_of(compiled: Any, args: tuple[Any, ...]) -> Call:
        def call() -> Any:
            result = compiled(*args)
            if result.requires_grad:
                result.backward()
            return None

        return call

    for eager, its_args in ((fn, args), (other_fn, other_args)):
        # Gradients are added up where they are now: in memory that no replay writes to.
        call_of(eager, its_args)()
    calls = {"tiers": call_of(function, args), "reduce-overhead": call_of(other, other_args)}
    calls["tiers"]()
    for _ in range(5):
        calls["reduce-overhead"]()
    builder().wait()
    longest: dict[str, float] = {}
    counts: dict[str, int] = {}
    while any(graph.tiers[2].gain is None for graph in cs.tiers(function)):
        if any(graph.tiers[2].state in ("unwanted", "failed") for graph in cs.tiers(function)):
            raise RuntimeError(str(cs.tiers(function)))
        before = cs.tiers(function)
        states = {tier.state for graph in before for tier in graph.tiers}
        phase = next((state for state in ("checks", "records") if state in states), "other")
        start = time.perf_counter()
        calls["tiers"]()
        wait(device)
        ms = (time.perf_counter() - start) * 1e3
        if phase == "records":
            phase = f"records, call {counts.get('records', 0) + 1}"
            counts["records"] = counts.get("records", 0) + 1
        longest[phase] = max(longest.get(phase, 0.0), ms)
    tiers = cs.tiers(function)
    rows: dict[str, list[float]] = {way: [] for way in (*ALL_TIERS, "reduce-overhead")}

    def block(way: str, count: int) -> float:
        call = calls["tiers" if way in ALL_TIERS else way]
        if way in ALL_TIERS:
            cs.pin_tier(function, None if way == ALL_TIERS[-1] else way)
            serving = {graph.serving for graph in cs.tiers(function)}
            assert serving == {way}, serving
        for _ in range(3):
            call()
        wait(device)
        start = time.perf_counter()
        for _ in range(count):
            call()
        wait(device)
        return (time.perf_counter() - start) * 1e6 / count

    count = max(1, round(BLOCK_US / max(block("python", 5), 1.0)))
    end = time.perf_counter() + SECONDS / 2
    ways = tuple(rows)
    while time.perf_counter() < end or len(rows["python"]) < LEAST:
        shift = len(rows["python"]) % len(ways)
        for way in (*ways[shift:], *ways[:shift]):
            rows[way].append(block(way, count))
    row: dict[str, Any] = {f"{way}_us": statistics.median(times) for way, times in rows.items()}
    for way in ways:
        pairs = zip(rows["cuda_graphs"], rows[way], strict=True)
        low, middle, high = statistics.quantiles(own / other_us for own, other_us in pairs)
        row |= {f"to_{way}": middle, f"to_{way}_quartiles": [low, high]}
    return [
        {"phase": "swap", "longest_ms": longest},
        {
            "phase": "graphs",
            **row,
            "rounds": len(rows["python"]),
            "pool_bytes": [graph.tiers[2].pool_bytes for graph in tiers],
            "record_s": [graph.tiers[2].seconds for graph in tiers],
            "swapped_s": [graph.tiers[2].swapped_s for graph in tiers],
            "tiers": str(tiers),
        },
    ]


def clock_of(device: str) -> Callable[[], float]:
    """On the CPU this process's time, which what else the machine does is not in."""
    return time.perf_counter if device == "cuda" else time.process_time


def in_turns(calls: dict[str, Call], device: str, is_over: Callable[[], bool]) -> dict[str, Any]:
    """How long a call takes, and how that of tiers stands to the others: medians, quartiles."""
    clock = clock_of(device)

    def block(way: str, count: int) -> float:
        call = calls[way]
        start = clock()
        for _ in range(count):
            call()
        wait(device)
        return (clock() - start) * 1e6 / count

    count = max(1, round(BLOCK_US / max(block("python", 5), 1.0)))
    rounds: dict[str, list[float]] = {way: [] for way in WAYS}
    end = time.perf_counter() + SECONDS
    while len(rounds["tiers"]) < LEAST or not (is_over() or time.perf_counter() > end):
        shift = len(rounds["tiers"]) % len(WAYS)
        for way in (*WAYS[shift:], *WAYS[:shift]):
            rounds[way].append(block(way, count))
    row: dict[str, Any] = {f"{way}_us": statistics.median(rounds[way]) for way in WAYS}
    for other in ("python", "cpp"):
        pairs = zip(rounds["tiers"], rounds[other], strict=True)
        low, middle, high = statistics.quantiles(own / other_us for own, other_us in pairs)
        row |= {f"to_{other}": middle, f"to_{other}_quartiles": [low, high]}
    return {**row, "rounds": len(rounds["tiers"])}


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


class Measured:
    """What files of this benchmark say of each model, in the order in which it stands there."""

    def __init__(self, files: list[Path]) -> None:
        self.first: dict[str, dict[str, list[float]]] = {}
        """Model → ``cold python``, … → seconds of each round."""
        self.to_python: dict[str, dict[str, list[float]]] = {}
        """Model → ``cold tiers`` and ``warm tiers`` → over the Python wrapper's, round by round."""
        self.latency: dict[str, dict[str, dict[str, Any]]] = {}
        """Model → ``before`` or ``after`` → the row."""
        for file in files:
            rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
            rounds: dict[tuple[str, str, int], float] = {}
            for row in rows:
                if row.get("what") == "first call":
                    place = f"{row['phase']} {row['way']}"
                    self.first.setdefault(row["model"], {}).setdefault(place, [])
                    self.first[row["model"]][place].append(row["first_s"])
                    rounds[row["model"], place, row["round"]] = row["first_s"]
                elif row.get("what") == "latency":
                    self.latency.setdefault(row["model"], {})[row["phase"]] = row
            for (name, place, number), seconds in rounds.items():
                phase, way = place.split()
                python = rounds.get((name, f"{phase} python", number))
                if way == "tiers" and python is not None:
                    ratios = self.to_python.setdefault(name, {})
                    ratios.setdefault(place, []).append(seconds / python)

    def table(self) -> str:
        """First calls, and latency, as two tables in Markdown."""
        places = [f"{phase} {way}" for phase in ("cold", "warm") for way in WAYS]
        lines = [f"| model | {' | '.join(places)} |", f"|{' --- |' * (len(places) + 1)}"]
        for name, seconds in self.first.items():
            cells = [
                f"{statistics.median(seconds[place]):.1f} s" if place in seconds else ""
                for place in places
            ]
            for place, ratios in self.to_python.get(name, {}).items():
                cells[places.index(place)] += f" ({statistics.median(ratios):.2f})"
            lines.append(f"| {title(name)} | {' | '.join(cells)} |")
        heads = ("Python, µs", "C++, µs", "before, to Python", "after, to C++", "after, to Python")
        lines += ["", f"| model | {' | '.join(heads)} |", f"|{' --- |' * (len(heads) + 1)}"]
        for name, phases in self.latency.items():
            before, after = phases["before"], phases["after"]
            cells = [f"{after['python_us']:,.0f}", f"{after['cpp_us']:,.0f}"]
            cells += [
                f"{row[f'to_{way}']:.2f} ({low:.2f} to {high:.2f})"
                for row, way in ((before, "python"), (after, "cpp"), (after, "python"))
                for low, high in [row[f"to_{way}_quartiles"]]
            ]
            lines.append(f"| {title(name)} | {' | '.join(cells)} |")
        return "\n".join(lines)

    def chart(self) -> Any:
        """First calls, cold and warm, in seconds, as a Plotly figure."""
        from plotly.graph_objects import Bar, Figure
        from wrappers import TITLES

        ways = {**TITLES, "tiers": ("tiers", "#228833")}
        figure = Figure()
        for way in WAYS:
            label, colour = ways[way]
            for phase, pattern in (("cold", ""), ("warm", "/")):
                seconds = {
                    title(name).replace(", ", "<br>"): statistics.median(places[f"{phase} {way}"])
                    for name, places in self.first.items()
                    if f"{phase} {way}" in places
                }
                figure.add_trace(
                    Bar(
                        name=f"{label}, {'nothing cached' if phase == 'cold' else 'cached'}",
                        x=list(seconds),
                        y=list(seconds.values()),
                        text=[f"{value:.0f}" for value in seconds.values()],
                        textposition="outside",
                        cliponaxis=False,
                        marker={"color": colour, "pattern": {"shape": pattern}},
                    )
                )
        figure.update_layout(
            barmode="group",
            template="plotly_white",
            legend={"orientation": "h", "y": 1.2},
            xaxis={"tickangle": 0},
            yaxis={
                "title": "first call, s",
                "type": "log",
                "tickvals": [1, 2, 5, 10, 20, 50],
                "range": [0, 2],
            },
            height=420,
            margin={"t": 40, "r": 20, "b": 50},
            font={"size": 13},
        )
        return figure


def title(name: str) -> str:
    """How a table names a model."""
    from wrappers import MODELS

    return MODELS.get(name, name)


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
