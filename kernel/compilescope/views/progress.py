"""What a long piece of work does just now: one line, in a cell's output or in a terminal."""

from __future__ import annotations

import sys
import time
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import shell

if TYPE_CHECKING:
    from ..compiler.progress import Progress

_TICK_S = 0.1
"""At most ten messages a second: steps of a fast compilation would only flicker."""


class Line:
    """The line. Use it as a context around the work, after which it is gone.

    Attributes
    ----------
    handle
        The cell's output that it is in; None outside of a notebook.
    """

    def __init__(self) -> None:
        self.handle: Any = None
        self._ticked = 0.0

    def start(self) -> None:
        """Takes its place in the cell's output, where there is one."""
        if shell.kernel() is not None:
            from IPython import display  # where there is a kernel, there is IPython

            handle: Any = display.DisplayHandle  # without types in IPython
            self.handle = handle()
            self.handle.display(_bundle("starting", None), raw=True)

    def __enter__(self) -> Line:
        self.start()
        return self

    def show(self, now: Progress) -> None:
        """Shows the step that begins."""
        if time.monotonic() - self._ticked < _TICK_S:
            return
        self._ticked = time.monotonic()
        step = f"{now.variant}: {now.step}" if now.variant else now.step
        if self.handle is not None:
            self.handle.update(_bundle(step, now.fraction), raw=True)
        elif sys.stderr.isatty():
            sys.stderr.write(f"\r\033[K{step} …")
            sys.stderr.flush()

    def clear(self) -> None:
        """Takes the line away from a terminal."""
        if self.handle is None and sys.stderr.isatty():
            sys.stderr.write("\r\033[K")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.clear()
        if self.handle is not None:
            self.handle.update({"text/plain": "", "text/html": ""}, raw=True)


def _bundle(step: str, fraction: float | None) -> dict[str, str]:
    """A step as a notebook's output."""
    value = "" if fraction is None else f' value="{fraction:.3f}" max="1"'
    percent = "" if fraction is None else f" ({fraction:.0%})"
    bar = f'<progress{value} aria-label="progress of the inspection"></progress>'
    return {"text/html": f"{bar} {escape(step)}", "text/plain": f"{step}{percent} …"}
