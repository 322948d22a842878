"""OpenMP, with which CPU kernels use several cores."""

from __future__ import annotations

import os
from pathlib import Path

from ..report.checkup import Check
from ..torch_api.inductor import toolchain
from .compiler import with_compiler
from .context import CheckContext, CheckFunction, not_needed, ok, problem, python, run, warning

SUBJECT = "OpenMP"
_PROGRAM = """\
#include <omp.h>
extern "C" int threads() {
    int seen = 0;
    #pragma omp parallel reduction(+ : seen)
    seen += 1;
    return seen;
}
extern "C" long total(long n) {
    long sum = 0;
    #pragma omp parallel for reduction(+ : sum)
    for (long i = 1; i <= n; ++i) { sum += i; }
    return sum;
}
"""
_CALL = """\
import ctypes, sys, torch
library = ctypes.CDLL(sys.argv[1])
library.total.restype = ctypes.c_long
print(library.threads(), library.total(ctypes.c_long(100000)))
"""
_MAPS = Path("/proc/self/maps")
_RUNTIMES = ("libgomp", "libiomp5", "libomp")


@with_compiler("parallel loop")
def compiles(context: CheckContext) -> Check:
    """A parallel loop, compiled as Inductor would and run together with torch."""
    name = "parallel loop"
    source = context.place("openmp") / "program.cpp"
    source.write_text(_PROGRAM, encoding="utf-8")
    command, library = toolchain.build_command(source)
    built = run(command, folder=source.parent)
    remedy = (
        "Install OpenMP for this compiler (g++ has it; Debian, clang: apt-get install libomp-dev; "
        "macOS: brew install libomp)."
    )
    if not built.ok:
        return problem(
            name, f"A parallel loop does not compile: {built.first}", remedy, detail=built.output
        )
    ran = python("-c", _CALL, str(library), folder=source.parent)
    if not ran.ok:
        return problem(
            name, f"A parallel loop does not run: {ran.first}", remedy, detail=ran.output
        )
    threads, total = ran.output.split()[-2:]
    if total != "5000050000":
        return problem(
            name, f"A parallel loop computes a wrong sum: {total}, not 5000050000.", remedy
        )
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if threads == "1" and (allowed or 1) > 1:
        return warning(
            name,
            f"A parallel loop runs on 1 of {allowed} processors.",
            "Unset OMP_NUM_THREADS, or install another OpenMP runtime.",
        )
    return ok(name, f"A parallel loop runs on {threads} threads and computes the right sum.")


def runtimes(context: CheckContext) -> Check:
    """Whether several OpenMP runtimes are loaded: each keeps threads of its own."""
    name = "runtimes in this process"
    if not _MAPS.exists():
        return not_needed(
            name, "Not checked: only Linux lists the libraries that a process has loaded."
        )
    files = {
        Path(line.split()[-1]).name
        for line in _MAPS.read_text(encoding="utf-8", errors="replace").splitlines()
        if "/" in line
    }
    names = sorted(file for file in files if file.startswith(_RUNTIMES))
    kinds = {next(RUNTIME for RUNTIME in _RUNTIMES if file.startswith(RUNTIME)) for file in names}
    if len(kinds) > 1:
        return warning(
            name,
            f"{', '.join(names)}: each starts its own threads, which makes calls slower.",
            "Install torch, NumPy and other packages all with pip, or all with conda.",
        )
    return ok(name, ", ".join(names) or "None loaded yet.")


CHECKS: tuple[CheckFunction, ...] = (compiles, runtimes)
