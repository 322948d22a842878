"""How fast the sources of both wrappers are there, against building both.

    python benchmarks/sources.py [--repeats 3] [--only mlp]

Side by side, in turns, each measurement in a process of its own with empty caches:

- ``sources``: ``compilescope.inspect(fn, args, variants=("python", "cpp"), run=False)``;
- ``python`` and ``cpp``: the first call of ``torch.compile(fn)``, without and with
  ``cpp_wrapper``, with a backward where the result has one.

The ratio is that of medians, (python + cpp) / sources. Before the clock starts every process
imports both packages and inspects a tiny function in a cache folder that is then left: imports, and
the look at the processor's instructions, are paid by no side. The rest is measured twice:

- ``first``: nothing was built before. torch also precompiles its C++ headers.
- ``later``: every process has also built the tiny function under both wrappers. The headers, which
  torch keeps outside its cache folder, are there and looked up. This is the harder comparison.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KINDS = ("sources", "python", "cpp")
STATES = ("first", "later")


def main() -> None:
    """Measures, and prints a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", action="append", help="a subject: mlp, transformer or training")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    names = options.only or ["mlp", "transformer", "training"]
    cases = [(name, state, kind) for name in names for state in STATES for kind in KINDS]
    seconds: dict[tuple[str, str, str], list[float]] = {case: [] for case in cases}
    for repeat in range(options.repeats):
        turn = repeat % len(cases)
        for case in cases[turn:] + cases[:turn]:
            seconds[case].append(_in_a_process(*case))
            print(*case, f"{seconds[case][-1]:.3f} s", file=sys.stderr)
    print("medians in seconds, and the lowest to the highest")
    print(f"{'subject':12} {'state':6} " + " ".join(f"{kind:>20}" for kind in KINDS) + "   ratio")
    for name in names:
        for state in STATES:
            row = [seconds[name, state, kind] for kind in KINDS]
            sources, python, cpp = (statistics.median(values) for values in row)
            print(
                f"{name:12} {state:6} {' '.join(_cell(values) for values in row)} "
                f"{(python + cpp) / sources:6.1f}x"
            )


def measure(subject: str, state: str, kind: str) -> None:
    """One measurement, in this process; prints the seconds as JSON."""
    import torch
    from subjects import SUBJECTS, tiny

    torch.manual_seed(0)
    run: dict[str, Callable[..., object]] = {
        "sources": _sources,
        "python": lambda fn, args: _compile(fn, args, cpp_wrapper=False),
        "cpp": lambda fn, args: _compile(fn, args, cpp_wrapper=True),
    }
    with _empty_cache():
        for name in KINDS if state == "later" else KINDS[:1]:
            run[name](*tiny())
    torch.compiler.reset()
    fn, args = SUBJECTS[subject]()
    with _empty_cache():
        start = time.perf_counter()
        result = run[kind](fn, args)
        seconds = time.perf_counter() - start
    if kind == "sources":
        _check(result, backward=subject == "training")
    print(json.dumps(seconds))


def _cell(values: list[float]) -> str:
    spread = f"({min(values):.2f}-{max(values):.2f})"
    return f"{statistics.median(values):7.3f} {spread:>12}"


def _sources(fn: Callable[..., Any], args: tuple[Any, ...]) -> object:
    import compilescope

    return compilescope.inspect(fn, args, variants=("python", "cpp"), run=False)


def _compile(fn: Callable[..., Any], args: tuple[Any, ...], *, cpp_wrapper: bool) -> object:
    import torch

    output = torch.compile(fn, options={"cpp_wrapper": cpp_wrapper})(*args)
    if output.requires_grad:
        output.backward()
    return output


def _check(report: Any, *, backward: bool) -> None:
    """Quick sources are worth nothing if they are not there."""
    for variant in report.variants:
        codes = [compilation.code for compilation in variant.compilations]
        codes += [code.backward for code in codes if code.backward is not None]
        texts = [getattr(code, variant.name) for code in codes]
        if len(texts) != 1 + backward or not all(texts):
            raise SystemExit(f"{variant.name}: sources are missing. {variant.problems}")


@contextmanager
def _empty_cache() -> Iterator[None]:
    folder = tempfile.mkdtemp()
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
    os.environ["TRITON_CACHE_DIR"] = str(Path(folder) / "triton")
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _in_a_process(subject: str, state: str, kind: str) -> float:
    # torch keeps precompiled headers in the folder for temporary files: an empty one has none.
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, __file__, "--measure", subject, state, kind],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": folder},
        )
    return float(json.loads(done.stdout.splitlines()[-1]))


if __name__ == "__main__":
    main()
