"""What a terminal shows and a pipe does not: colours, and progress."""

from __future__ import annotations

import os
import sys
from typing import TextIO

_STYLES = {"error": "31", "warning": "33", "bold": "1", "dim": "2"}
_SHOWN_FROM_BYTES = 64 << 20
"""Reading less than that takes no time worth a progress line."""


class Paint:
    """Colours text where it is shown on a terminal, and nobody asked for none.

    Parameters
    ----------
    stream
        Where the text goes.
    """

    def __init__(self, stream: TextIO) -> None:
        self._colors = (
            stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        )

    def __call__(self, style: str, text: str) -> str:
        """The text in a style: error, warning, bold or dim."""
        return f"\033[{_STYLES[style]}m{text}\033[0m" if self._colors and text else text


def show_progress(done: int, total: int) -> None:
    """Show how much of a trace was read, on standard error where that is a terminal."""
    if total < _SHOWN_FROM_BYTES or not sys.stderr.isatty():
        return
    end = "\r\033[K" if done >= total else ""
    line = f"\rcompilescope: read {done / 1e6:.0f} of {total / 1e6:.0f} MB"
    print(line, end=end, file=sys.stderr, flush=True)
