"""Reading traces of several sizes, beside tlparse, in turns.

    python benchmarks/traces.py [--mb 10 100] [--small] [--rounds 3] [--tlparse PATH] [--page FILE]

A log of each size is made of the real ones in ``tests/data/traces``, again and again with other
compile ids and other names of kernels, so that no text occurs twice. Prints processor time and peak
memory of these, each in a process of its own, in turns:

- the start of Python, ``python -c pass`` (``-S``: without the folders of installed packages), and
  ``import msgspec, argparse, pathlib`` with it, which all commands of ``compilescope`` import;
- ``compilescope trace LOG``, the first view of it;
- ``compilescope show LOG --compilation ID --list``, which indexes the log and reads one compilation
  whole, the last;
- ``tlparse LOG``.

Beside each is how much more that is than ``python -c pass``.

A process begins with the memory of its parent, so that a peak below this program's own 20 to 36 MB
is not seen.

With ``--page``, also what ``compilescope trace LOG -o FILE`` takes, and the sizes of the page and
of the log's gzip.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

TRACES = Path(__file__).parents[1] / "tests" / "data" / "traces"
_FRAME = re.compile(rb'"frame_id": (\d+)')
_COMPILE_ID = re.compile(rb'"compile_id": "(\d+)/')
_KERNEL = re.compile(rb"triton_(poi|per|red|for)_fused")
_PAYLOAD = re.compile(rb'"has_payload": "[0-9a-f]{32}"')
_FRAMES = 1000
_ENVIRONMENT = {
    name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
}
"""Installed packages have their bytecode on disk; without it Python compiles each module anew."""


class Cost(NamedTuple):
    """What a process took."""

    cpu_s: float
    peak_mb: float


def main() -> None:
    """Make the logs and read them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=float, nargs="+", default=[1, 10, 100])
    parser.add_argument(
        "--small", action="store_true", help="of compilations of some 40 KB each, not of 1.5 MB"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tlparse", default=shutil.which("tlparse"), help="its executable")
    parser.add_argument("--page", type=Path, help="write a page of the last log, and keep it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for size in options.mb:
            log = Path(folder, "dedicated_log_torch_trace.log")
            last = make(log, int(size * 1e6), small=options.small)
            measure(log, last, options.rounds, options.tlparse)
            if options.page is not None:
                measure_page(log, options.page)
            log.unlink()


def make(path: Path, size: int, *, small: bool = False) -> str:
    """Write a log of at least ``size`` bytes. Returns the last compile id in it."""
    # An export has no compile id that could be renumbered.
    logs = [
        gzip.decompress(log.read_bytes())
        for log in sorted(TRACES.glob("cpu-*.log.gz" if small else "h200-*.log.gz"))
        if "export" not in log.name
    ]
    copies = 0
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(copy_of(logs[copies % len(logs)], copies))
            copies += 1
    return f"{(copies - 1) * _FRAMES}/0"


def copy_of(log: bytes, number: int) -> bytes:
    """The log with compile ids, interned names and kernels' names of its own."""
    shift = number * _FRAMES
    log = _FRAME.sub(lambda match: b'"frame_id": %d' % (int(match[1]) + shift), log)
    log = _COMPILE_ID.sub(lambda match: b'"compile_id": "%d/' % (int(match[1]) + shift), log)
    log = _KERNEL.sub(lambda match: match[0] + b"_%d" % number, log)
    records = re.split(rb"^(?=[A-Z]\d{4} )", log, flags=re.M)
    return b"".join(map(with_checksum, records))


def with_checksum(record: bytes) -> bytes:
    """The record with the checksum of the payload that it has now."""
    head, _, payload = record.partition(b"\n")
    if not payload or b"has_payload" not in head:
        return record
    text = b"\n".join(line[1:] for line in payload.removesuffix(b"\n").split(b"\n"))
    checksum = hashlib.md5(text).hexdigest().encode()
    return _PAYLOAD.sub(b'"has_payload": "%s"' % checksum, head) + b"\n" + payload


def measure(log: Path, compile_id: str, rounds: int, tlparse: str | None) -> None:
    """Read a log with all, in turns, and print what they took."""
    compilescope = [sys.executable, "-m", "compilescope"]
    commands = {
        "python -S": [sys.executable, "-S", "-c", "pass"],
        "python": [sys.executable, "-c", "pass"],
        "imports": [sys.executable, "-c", "import msgspec, argparse, pathlib"],
        "trace": [*compilescope, "trace", str(log)],
        "show": [*compilescope, "show", str(log), "--compilation", compile_id, "--list"],
    }
    page = log.with_name("page")
    if tlparse is not None:
        commands["tlparse"] = [
            *(tlparse, str(log), "-o", str(page)),
            *("--overwrite", "--no-browser"),
        ]
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            costs[name].append(cost(command))
        shutil.rmtree(page, ignore_errors=True)
    print(f"{log.stat().st_size / 1e6:.2f} MB", flush=True)
    start_s = statistics.median(cost.cpu_s for cost in costs["python"])
    for name, taken in costs.items():
        cpu_s = statistics.median(cost.cpu_s for cost in taken)
        beside = f"  {cpu_s - start_s:+.3f} s, {cpu_s / start_s:4.1f} times python"
        print(f"  {name:10} {described(taken)}{beside}", flush=True)


def measure_page(log: Path, page: Path) -> None:
    """Write a page of a log, and print what it took and its size."""
    taken = cost([sys.executable, "-m", "compilescope", "trace", str(log), "-o", str(page)])
    gzipped = log.with_name("log.gz")
    with log.open("rb") as plain, gzip.open(gzipped, "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed)
    print(
        f"  {'page':10} {described([taken])}; it has {page.stat().st_size / 1e6:.1f} MB, "
        f"the log's gzip {gzipped.stat().st_size / 1e6:.1f} MB",
        flush=True,
    )
    gzipped.unlink()


def described(costs: list[Cost]) -> str:
    """The median of several runs."""
    cpu_s = statistics.median(cost.cpu_s for cost in costs)
    peak_mb = statistics.median(cost.peak_mb for cost in costs)
    least_s = min(cost.cpu_s for cost in costs)
    return f"{cpu_s:8.3f} CPU-s (least {least_s:.3f}) {peak_mb:6.0f} MB"


def cost(command: list[str]) -> Cost:
    """Run a command to its end."""
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=_ENVIRONMENT
    )
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed: {status}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
