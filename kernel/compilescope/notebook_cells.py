"""Notebook cells: Python's file names for them, their numbers, their texts, and which one runs."""

from __future__ import annotations

import linecache
import re
import sys
import threading
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from . import ipython_shell

_NUMBER = re.compile(r"In\[(\d+)\]$")
_IPYTHON_NAME = re.compile(r"<ipython-input-(\d+)-")
_IPYKERNEL_FOLDER = re.compile(r"[/\\]ipykernel_\d+[/\\]")


class Cell(NamedTuple):
    """A running cell."""

    id: str | None
    """The front end's id; None if it sends none (a console, a terminal)."""
    number: int | None
    """The number of its execution: ``In[3]``."""
    file: str
    """Python's file name for the cell; empty in other threads than the cell's own."""


def is_cell(file: str) -> bool:
    """Whether a file's name is one that IPython or ipykernel gives to a cell.

    Examples
    --------
    >>> is_cell("/tmp/ipykernel_71/1234.py"), is_cell("<ipython-input-3-ab>"), is_cell("train.py")
    (True, True, False)
    """
    return _IPYTHON_NAME.match(file) is not None or _IPYKERNEL_FOLDER.search(file) is not None


def cell_number(file: str) -> int | None:
    """Return the execution count with which a cell last ran here; None if that is unknown.

    Parameters
    ----------
    file
        The name under which Python compiled the cell.
    """
    if named := _IPYTHON_NAME.match(file):
        return int(named[1])
    shell = ipython_shell.current()
    if shell is None or not is_cell(file):
        return None
    _, label = shell.compile.format_code_name(file) or ("", "")
    number = _NUMBER.match(label)
    return int(number[1]) if number else None


def running_number(shell: Any) -> int:
    """The number of the cell that an IPython shell runs."""
    # `execution_count` may already be that of the next cell (IPython 9).
    stored = len(shell.history_manager.input_hist_raw) - 1
    return stored if stored > 0 else int(shell.execution_count)


def running() -> Cell | None:
    """The cell that runs now; None without IPython."""
    shell = ipython_shell.current()
    if shell is None:
        return None
    kernel = ipython_shell.kernel()
    parent = (kernel.get_parent("shell") if kernel is not None else None) or {}
    cell_id = (parent.get("metadata") or {}).get("cellId")
    return Cell(str(cell_id) if cell_id else None, running_number(shell), _outermost_file())


def is_cell_running() -> bool:
    """Whether the main thread runs a cell while this thread asks."""
    main = threading.main_thread()
    if threading.current_thread() is main or main.ident is None:
        return False
    frame = sys._current_frames().get(main.ident)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "run_code" and code.co_filename.endswith("interactiveshell.py"):
            return True
        frame = frame.f_back
    return False


def texts(files: Iterable[str]) -> dict[str, str]:
    """The texts of source files that exist only in this process: file name → its whole text.

    IPython gives each cell a file name and keeps its text in `linecache`; ipykernel's name is a
    path in the temporary folder where no file is.
    """
    result: dict[str, str] = {}
    for file in sorted(set(files)):
        if is_cell(file) or not Path(file).exists():
            lines = linecache.getlines(file)
            if lines:
                result[file] = "".join(lines)
    return result


def _outermost_file() -> str:
    """The file of this thread's outermost frame that is a cell's: that cell runs."""
    result = ""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if is_cell(name):
            result = name
        frame = frame.f_back
    return result
