"""Terminal-only output: colors, links, and progress."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

_STYLES = {"error": "31", "warning": "33", "bold": "1", "dim": "2"}
_SHOWN_FROM_BYTES = 64 << 20
"""Below this many bytes, reading is too fast for a progress line."""


class Paint:
    """Colors text on a terminal, unless colors are turned off.

    Parameters
    ----------
    stream
        The stream that the text is written to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._links = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._colors = self._links and not os.environ.get("NO_COLOR")

    def __call__(self, style: str, text: str) -> str:
        """The text in a style: error, warning, bold or dim."""
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self._colors and text else text

    def link(self, path: str, text: str) -> str:
        """The text as a link to a local file, on terminals that support it (OSC 8)."""
        file = Path(path)
        if not self._links or not file.is_absolute() or not file.is_file():
            return text
        return f"\033]8;;{file.as_uri()}\033\\{text}\033]8;;\033\\"


def show_progress(done: int, total: int) -> None:
    """Show how much of a trace was read, on standard error if that is a terminal."""
    if total < _SHOWN_FROM_BYTES or not sys.stderr.isatty():
        return
    end = "\r\033[K" if done >= total else ""
    line = f"\rcompilescope: read {done / 1e6:.0f} of {total / 1e6:.0f} MB"
    print(line, end=end, file=sys.stderr, flush=True)
