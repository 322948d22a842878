"""Finds which files of source lines are notebook cells."""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..report import Compilation, SourceLine
from ..report.cell_numbers import is_cell


class Cell(NamedTuple):
    """A running cell."""

    id: str | None
    """The front end's id; None if it sends none (a console, a terminal)."""
    number: int | None
    file: str
    """Python's file name for the cell; empty in other threads than the cell's own."""


def running() -> Cell | None:
    """The cell that runs now; None without IPython."""
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return None
    kernel = getattr(shell, "kernel", None)
    parent = (kernel.get_parent("shell") if kernel is not None else None) or {}
    cell_id = (parent.get("metadata") or {}).get("cellId")
    stored = len(shell.history_manager.input_hist_raw) - 1
    # As in `cell`: `execution_count` may be the next one's already (IPython 9).
    number = stored if stored > 0 else int(shell.execution_count)
    return Cell(str(cell_id) if cell_id else None, number, _outermost())


def _outermost() -> str:
    """The file of the outermost frame that is a cell's: that cell runs."""
    result = ""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if is_cell(name):
            result = name
        frame = frame.f_back
    return result


def cells(compilations: Iterable[Compilation]) -> dict[str, str]:
    """The cells that compilations come from: file name → the cell's whole text.

    IPython gives each cell a file name and keeps its text in `linecache`; ipykernel's name is a
    path in the temporary folder where no file is.
    """
    files = {line.file for compilation in compilations for line in _lines(compilation)}
    texts: dict[str, str] = {}
    for file in sorted(files):
        if _is_text_only_here(file):
            lines = linecache.getlines(file)
            if lines:
                texts[file] = "".join(lines)
    return texts


def _is_text_only_here(file: str) -> bool:
    return is_cell(file) or not Path(file).exists()


def _lines(compilation: Compilation) -> Iterable[SourceLine]:
    if compilation.frame is not None:
        yield compilation.frame
    for kernel in compilation.kernels:
        yield from kernel.sources
    for graph in compilation.graphs.values():
        for node in graph.nodes:
            yield from node.sources
    for graph_break in compilation.breaks:
        yield from graph_break.stack
