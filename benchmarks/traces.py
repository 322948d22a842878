"""Reading traces of several sizes, beside tlparse, in turns.

    python benchmarks/traces.py [--mb 10 100] [--rounds 3] [--tlparse PATH]

A log of each size is made of the real ones in ``tests/data/traces``, again and again with other
compile ids and other names of kernels, so that no text occurs twice. Prints processor time and peak
memory of ``compilescope trace LOG`` and of ``tlparse LOG``, each in a process of its own, and the
median of the ratio of a round's pair.
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

LOGS = sorted(Path(__file__).parents[1].glob("tests/data/traces/h200-*.log.gz"))
_FRAME = re.compile(rb'"frame_id": (\d+)')
_COMPILE_ID = re.compile(rb'"compile_id": "(\d+)/')
_KERNEL = re.compile(rb"triton_(poi|per|red|for)_fused")
_PAYLOAD = re.compile(rb'"has_payload": "[0-9a-f]{32}"')
_FRAMES = 1000


class Cost(NamedTuple):
    """What a process took."""

    cpu_s: float
    peak_mb: float


def main() -> None:
    """Make the logs and read them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=float, nargs="+", default=[1, 10, 100])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tlparse", default=shutil.which("tlparse"), help="its executable")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for size in options.mb:
            log = Path(folder, "dedicated_log_torch_trace.log")
            make(log, int(size * 1e6))
            measure(log, options.rounds, options.tlparse)
            log.unlink()


def make(path: Path, size: int) -> None:
    """Write a log of at least ``size`` bytes."""
    logs = [gzip.decompress(log.read_bytes()) for log in LOGS]
    copies = 0
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(copy_of(logs[copies % len(logs)], copies))
            copies += 1


def copy_of(log: bytes, number: int) -> bytes:
    """The log with compile ids, interned names and kernels' names of its own."""
    shift = number * _FRAMES
    log = _FRAME.sub(lambda found: b'"frame_id": %d' % (int(found[1]) + shift), log)
    log = _COMPILE_ID.sub(lambda found: b'"compile_id": "%d/' % (int(found[1]) + shift), log)
    log = _KERNEL.sub(lambda found: found[0] + b"_%d" % number, log)
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


def measure(log: Path, rounds: int, tlparse: str | None) -> None:
    """Read a log with both, in turns, and print what they took."""
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(cost([sys.executable, "-m", "compilescope", "trace", str(log)]))
        if tlparse is not None:
            page = log.with_name("page")
            theirs.append(cost([tlparse, str(log), "-o", str(page), "--overwrite", "--no-browser"]))
            shutil.rmtree(page, ignore_errors=True)
    print(f"{log.stat().st_size / 1e6:7.1f} MB  compilescope {described(ours)}", end="")
    if theirs:
        ratios = [a.cpu_s / b.cpu_s for a, b in zip(ours, theirs, strict=True)]
        print(f"  tlparse {described(theirs)}  ratio {statistics.median(ratios):.2f}", end="")
    print(flush=True)


def described(costs: list[Cost]) -> str:
    """The median of several runs."""
    cpu_s = statistics.median(cost.cpu_s for cost in costs)
    peak_mb = statistics.median(cost.peak_mb for cost in costs)
    return f"{cpu_s:6.2f} CPU-s {peak_mb:6.0f} MB"


def cost(command: list[str]) -> Cost:
    """Run a command to its end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed: {status}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
