"""Reads the source files that a report names."""

from __future__ import annotations

import linecache
import os
import stat

_MOST_BYTES = 5_000_000
"""No source file that someone wrote is larger."""


def source_lines(file: str) -> list[str]:
    """The lines of a source file or of a notebook's cell, each with its end; empty if unreadable.

    A trace may name any file: devices and pipes, which may never end, are not opened, nor are large
    files.

    Examples
    --------
    >>> source_lines("/dev/zero")
    []
    """
    if file not in linecache.cache:
        try:
            status = os.stat(file)  # noqa: PTH116 - Path raises for what is no path at all
        except (OSError, ValueError):
            return []
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return []
    return linecache.getlines(file)
