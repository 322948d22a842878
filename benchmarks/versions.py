"""What a report has under the installed torch, for the table in docs/versions.md.

    python benchmarks/versions.py benchmarks/results/versions   # writes 2.13.0.json there
    python benchmarks/versions.py --table benchmarks/results/versions

Each row is looked at in a report made here and now: code is generated on the CPU and for an H100
that need not be there, one function is built and called. A row that fails is told with its error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import torch
from compilescope.report import Compilation, Report, VariantReport
from torch import nn

ROWS: dict[str, Callable[[], str]] = {}


def row(what: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Adds a row; the function under it returns what its cell says."""

    def add(look: Callable[[], str]) -> Callable[[], str]:
        ROWS[what] = look
        return look

    return add


def gelu_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    h = torch.nn.functional.gelu(x @ weight)
    return h / h.norm(dim=-1, keepdim=True)


def broken(x: torch.Tensor) -> torch.Tensor:
    x = x + 1
    print(end="")
    return x * 2


BOTH = ("python", "cpp")
reports: dict[str, Report] = {}


def looked(name: str, make: Callable[[], Report]) -> Report:
    """A report that several rows look at, made once."""
    if name not in reports:
        reports[name] = make()
    report = reports[name]
    problems = [
        *report.problems,
        *(problem for variant in report.variants for problem in variant.problems),
    ]
    for problem in problems:
        if problem.severity == "error":
            raise RuntimeError(f"{problem.what} {problem.why}")
    return report


def inference() -> Report:
    arguments = (torch.randn(8, 16), torch.randn(16, 16))
    return looked("inference", lambda: cs.inspect(gelu_norm, arguments, variants=BOTH, run=False))


def training() -> Report:
    arguments = (torch.randn(8, 16), torch.randn(16, 16, requires_grad=True))
    return looked("training", lambda: cs.inspect(gelu_norm, arguments, variants=BOTH, run=False))


def h100() -> Report:
    variants = {
        "python": cs.Variant(target="h100"),
        "cpp": cs.Variant(target="h100", cpp_wrapper=True),
        "graphs": cs.Variant(target="h100", mode="reduce-overhead"),
        "cpp graphs": cs.Variant(target="h100", mode="reduce-overhead", cpp_wrapper=True),
        "cpp whole graphs": cs.Variant(
            target="h100",
            mode="reduce-overhead",
            cpp_wrapper=True,
            options={"graph_partition": False},
        ),
    }
    arguments = (torch.randn(256, 256), torch.randn(256, 256))
    return looked("h100", lambda: cs.inspect(gelu_norm, arguments, variants=variants, run=False))


def watched() -> Report:
    def make() -> Report:
        compiled = torch.compile(broken)
        with cs.watch() as report:
            for length in (4, 5, 6):
                compiled(torch.randn(length, 3))
        return report

    return looked("watched", make)


def both(report: Report, is_shown: Callable[[Compilation], object]) -> str:
    """Whether both wrappers' compilations have something."""
    names = [name for name in BOTH if is_shown(report.variant(name).compilations[0])]
    return "yes" if names == list(BOTH) else f"only {names[0]}" if names else "no"


@row("graphs of an inference")
def _inference() -> str:
    graphs = inference().compilations[0].graphs
    return f"{len(graphs)} stages"


@row("graphs of a training step")
def _training() -> str:
    graphs = training().compilations[0].graphs
    return f"{len(graphs)} stages" if {"joint", "forward", "backward"} <= graphs.keys() else "no"


@row("Python and C++ wrapper, forward and backward")
def _wrappers() -> str:
    code = training().compilation("0/0").code
    backward = code.backward
    return "yes" if code.python and code.cpp and backward and backward.python else "no"


@row("wrappers aligned by what they do")
def _aligned() -> str:
    regions = inference().compilation("0/0").code.regions
    keys = [{region.key for region in regions[name] if region.key} for name in BOTH]
    return f"{len(keys[0] & keys[1])} of {len(keys[1])} parts"


@row("steps of both wrappers")
def _steps() -> str:
    return both(inference(), lambda item: item.steps and item.steps[0].steps)


@row("nodes and kernels lead to source lines")
def _sources() -> str:
    return both(inference(), lambda item: all(kernel.sources for kernel in item.kernels))


@row("kernels compared between variants")
def _changes() -> str:
    changes = inference().variant("cpp").changes
    return ", ".join(sorted({kernel.outcome for kernel in changes.kernels})) if changes else "no"


@row("fusion, tiles and baked sizes of a C++ kernel")
def _plans() -> str:
    return both(
        inference(),
        lambda item: any(kernel.fusion for kernel in item.kernels) and item.memory,
    )


@row("decompositions")
def _decompositions() -> str:
    decompositions = inference().compilations[0].decompositions
    return f"{len(decompositions)}" if decompositions else "no"


@row("guards, with the lines that made them")
def _guards() -> str:
    guards = inference().compilations[0].guards
    return f"{len(guards)}, {sum(guard.origin is not None for guard in guards)} with lines"


@row("graph breaks, with the reason")
def _breaks() -> str:
    breaks = [
        graph_break for compilation in watched().compilations for graph_break in compilation.breaks
    ]
    return breaks[0].reason.partition("\n")[0][:60] if breaks else "no"


@row("recompiles: failed guard, both values, advice")
def _recompiles() -> str:
    recompiles = [
        compilation.recompile for compilation in watched().compilations if compilation.recompile
    ]
    known = [
        failure
        for recompile in recompiles
        for failure in recompile.failures
        if failure.old and failure.new
    ]
    return "yes" if known and recompiles[0].advice else "no"


@row("compile time by phase")
def _phases() -> str:
    kinds = {kind for compilation in watched().compilations for kind in _kinds(compilation.phases)}
    return f"{len(kinds)} kinds of phases" if kinds else "no"


def _kinds(phases: list[Any]) -> list[str]:
    return [kind for phase in phases for kind in (phase.kind, *_kinds(phase.children)) if kind]


@row("settings that change a first call")
def _cold() -> str:
    from compilescope.torch_api.inductor import first_call_settings

    switches = first_call_settings.switches(cs.Variant(cpp_wrapper=True), "cpu")
    return f"{sum(not item.why for item in switches)}"


@row("package of AOTInductor, its sources")
def _package() -> str:
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).eval().requires_grad_(False)
    report = cs.inspect(model, (torch.randn(2, 8),), variants=("cpp",), run=False)
    cs.study(report, "package")
    package = report.variants[0].package
    if package is None:
        return report.variants[0].absent.get("package", "no")
    return package.problem.what if package.problem else f"{len(package.files)} files"


@row("target H100: both wrappers, Triton kernels")
def _target() -> str:
    def triton(item: Compilation) -> bool:
        return any(kernel.language == "triton" for kernel in item.kernels)

    return both(h100(), triton)


@row("target H100: C++ wrapper compiles Triton kernels")
def _lazy() -> str:
    code = h100().variant("cpp").compilations[0].code.cpp or ""
    return "at the first call" if "start_all_triton_kernel_compiles" in code else "beforehand"


def _graphs_of(variant: VariantReport) -> str:
    cuda_graphs = variant.cuda_graphs
    return cuda_graphs.outcome if cuda_graphs else "no"


@row("target H100: CUDA graphs, Python wrapper")
def _graphs() -> str:
    return _graphs_of(h100().variant("graphs"))


@row("target H100: CUDA graphs, C++ wrapper")
def _cpp_graphs() -> str:
    return _graphs_of(h100().variant("cpp graphs"))


@row("target H100: the same without graph partition")
def _whole_graphs() -> str:
    return _graphs_of(h100().variant("cpp whole graphs"))


@row("target H100: PTX, SASS, registers")
def _assembly() -> str:
    report = cs.study(h100(), "assembly", variants=("python",))
    kernels = [
        kernel for kernel in report.variant("python").compilations[0].kernels if kernel.assembly
    ]
    return ", ".join(sorted(kernels[0].assembly)) if kernels else "no"


def look() -> dict[str, str]:
    """Row → cell."""
    cells = {}
    for what, cell in ROWS.items():
        try:
            cells[what] = cell()
        except Exception as error:  # noqa: BLE001 - a row that fails is told
            cells[what] = f"fails: {type(error).__name__}: {error}".replace("\n", " ")[:200]
        print(f"{what}: {cells[what]}", file=sys.stderr, flush=True)
    return cells


def table(folder: Path) -> str:
    """A Markdown table of all that was written there."""
    stored = [json.loads(path.read_text()) for path in folder.glob("*.json")]
    stored.sort(key=lambda item: [int(part) for part in item["torch"].split(".")[:2]])
    lines = [["", *(f"torch {item['torch']}, Triton {item['triton']}" for item in stored)]]
    lines += [["---"] * len(lines[0])]
    lines += [[what, *(item["cells"].get(what, "") for item in stored)] for what in ROWS]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> None:
    """Looks and writes, or prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--table", action="store_true", help="print what is stored there")
    options = parser.parse_args()
    if options.table:
        print(table(options.folder))
        return
    torch.manual_seed(0)
    version = torch.__version__.partition("+")[0]
    cells = look()
    environment = inference().environment
    stored = {
        "torch": version,
        "triton": environment.triton,
        "python": environment.python,
        "cells": cells,
    }
    options.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(stored, indent=1, ensure_ascii=False)
    (options.folder / f"{version}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
