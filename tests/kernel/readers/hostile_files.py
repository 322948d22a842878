"""Files of others, made to cost as much as they can, opened under limits of time and memory.

``python -m tests.kernel.readers.hostile_files KIND COUNT …`` prints each that is too dear, or whose
refusal is no clear error. The limits are the operating system's: of a process, for all files of
a kind.
"""

from __future__ import annotations

import gzip
import os
import random
import re
import resource
import sys
import tempfile
import time
import traceback
import zipfile
from collections.abc import Callable
from pathlib import Path

import compilescope as cs
from compilescope.report import Report

DATA = Path(__file__).parents[2] / "data"
MEMORY_BYTES = 1_500_000_000
SECONDS_EACH = 10
"""Of processor time, for a file of up to half a megabyte and everything that shows it."""
SECONDS_UNPACKED = 20
"""The same for what a compressed file unpacks to, line by line, and for making it."""
_MUCH = 200_000
_NUMBERS = [b"9" * 9, b"9" * 18, b"9" * 19, b"9" * 400, b"9" * 5000, b"-1", b"0", b"1e999"]


def amplified(text: bytes, rng: random.Random) -> bytes:
    """The text with a piece of it a great many times, or a number that no memory holds."""
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(text))
        how = rng.random()
        if how < 0.6:
            piece = text[at : at + rng.choice([1, 2, 3, 5, 8, 13, 30, 80, 300])]
            text = text[:at] + piece * (_MUCH // len(piece)) + text[at:]
        elif how < 0.75:
            end = at + _MUCH
            text = text[:at] + text[at:end].replace(b"\n", b" ") + text[end:]
        elif numbers := list(re.finditer(rb"\d+", text)):
            result = rng.choice(numbers)
            text = text[: result.start()] + rng.choice(_NUMBERS) + text[result.end() :]
    return text


def package(path: Path, rng: random.Random) -> Report:
    """A ``.pt2`` file."""
    sources = sorted((DATA / "targets").glob("*cpp.txt"))
    folder = "m/data/aotinductor/model"
    with zipfile.ZipFile(path.with_suffix(".pt2"), "w", zipfile.ZIP_DEFLATED) as archive:
        text = amplified(rng.choice(sources).read_bytes(), rng)
        archive.writestr(f"{folder}/a.wrapper.cpp", text)
        metadata = amplified(b'{"AOTI_DEVICE_KEY": "cpu", "n": [1, {"a": 3}]}', rng)
        archive.writestr(f"{folder}/a.wrapper_metadata.json", metadata)
        if rng.random() < 0.2:
            for number in range(20_000):
                archive.writestr(f"m/{number}", b"")
    return cs.open_package(path.with_suffix(".pt2"))


def report(path: Path, rng: random.Random) -> Report:
    """A report's JSON."""
    given = rng.choice(sorted((DATA / "reports").glob("*.json"))).read_bytes()
    path.write_bytes(amplified(given, rng))
    return cs.load(path)


def trace(path: Path, rng: random.Random) -> Report:
    """A log of torch's."""
    logs = sorted((DATA / "traces").rglob("*.log.gz"))
    path.write_bytes(amplified(gzip.decompress(rng.choice(logs).read_bytes()), rng))
    return cs.read_trace(path)


def unpacked(path: Path, rng: random.Random) -> Report:
    """A compressed log of two hundred kilobytes that would unpack to 40 megabytes."""
    head = gzip.decompress((DATA / "traces" / "cpu-torch2.13-backend.log.gz").read_bytes())
    piece = rng.choice([b"\0", b"\n", b"V", b"a line\n", b"\n\tx", head[:200] + b"\n"])
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(head)
        block = piece * (1_000_000 // len(piece))
        for _ in range(40):
            file.write(block)
    return cs.read_trace(path)


KINDS: dict[str, Callable[[Path, random.Random], Report]] = {
    reader.__name__: reader for reader in (package, report, trace, unpacked)
}


def cost(open_hostile: Callable[[Path, random.Random], Report], seed: int, path: Path) -> str:
    """Opens one and shows it in every way; what is wrong with how that went."""
    start = time.process_time()
    try:
        opened = open_hostile(path, random.Random(seed))
        str(opened)
        opened._repr_html_()
        opened.redacted().to_json()
    except cs.CompilescopeError as error:
        return "" if error.problem.what and error.problem.remedy else f"no remedy: {error}"
    except MemoryError:
        return "too much memory"
    except Exception:  # noqa: BLE001 - any other is no clear error
        return traceback.format_exc(limit=-4)
    spent = time.process_time() - start
    most = SECONDS_UNPACKED if open_hostile is unpacked else SECONDS_EACH
    return f"{spent:.1f} s" if spent > most else ""


def main() -> None:
    """Opens the files of each kind in a fork, so that all share what is imported and no limit."""
    for kind, count in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        if (child := os.fork()) == 0:
            open_all(kind, int(count))
            return
        if status := os.waitpid(child, 0)[1]:
            sys.exit(f"{kind}: ended with {os.waitstatus_to_exitcode(status)}")


def open_all(kind: str, count: int) -> None:
    """Prints what is wrong, a line each, and how many were opened."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(count):
            wrong = cost(
                KINDS[kind],
                seed,
                Path(folder, "hostile.compilescope.json" if kind == "report" else "hostile.log"),
            )
            if wrong:
                print(f"{kind} {seed}: {wrong}", flush=True)
    print(f"{count} opened", flush=True)


if __name__ == "__main__":
    main()
