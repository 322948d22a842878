"""The numbers of notebook cells, which identify them for their author; their files do not."""

from __future__ import annotations

import re
import sys
from typing import Any

_NUMBER = re.compile(r"In\[(\d+)\]$")
_NAMED = re.compile(r"<ipython-input-(\d+)-")


def is_cell(file: str) -> bool:
    """Whether a file's name is one that IPython or ipykernel gives to a cell."""
    return "ipykernel_" in file or _NAMED.match(file) is not None


def cell_number(file: str) -> int | None:
    """Return the execution count with which a cell last ran here; None if that is unknown.

    Parameters
    ----------
    file
        The name under which Python compiled the cell.
    """
    if named := _NAMED.match(file):
        return int(named[1])
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if shell is None or not is_cell(file):
        return None
    _, label = shell.compile.format_code_name(file) or ("", "")
    number = _NUMBER.match(label)
    return int(number[1]) if number else None
