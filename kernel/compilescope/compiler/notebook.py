"""Which of the files that source lines point into are notebook cells."""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from pathlib import Path

from ..report import Compilation, SourceLine


def cells(compilations: Iterable[Compilation]) -> dict[str, str]:
    """The cells that compilations come from: file name → the cell's whole text.

    IPython gives each cell a file name and keeps its text in `linecache`; ipykernel's name is a
    path in the temporary folder where no file is.
    """
    files = {line.file for compilation in compilations for line in _lines(compilation)}
    found: dict[str, str] = {}
    for file in sorted(files):
        if _is_cell(file):
            lines = linecache.getlines(file)
            if lines:
                found[file] = "".join(lines)
    return found


def _is_cell(file: str) -> bool:
    return "ipykernel_" in file or file.startswith("<ipython-input-") or not Path(file).exists()


def _lines(compilation: Compilation) -> Iterable[SourceLine]:
    if compilation.frame is not None:
        yield compilation.frame
    for kernel in compilation.kernels:
        yield from kernel.sources
    for graph in compilation.graphs.values():
        for node in graph.nodes:
            yield from node.sources
    for each in compilation.breaks:
        yield from each.stack
