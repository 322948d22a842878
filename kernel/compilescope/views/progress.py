"""Shows the current step of long work: one line, in a cell's output or in a terminal.

Where standard error is a file or a pipe, a plain line says every 30 s that the work continues.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from .. import ipython_shell
from ..analysis.figures.time_words import time_text
from ..report.units import elapsed, percent

if TYPE_CHECKING:
    from ..progress.progress import Progress

_TICK_S = 0.1
"""At most ten messages a second: steps of a fast compilation would only flicker."""
_CLOCK_S = 1.0
"""How often the elapsed time is updated within a step."""
_PLAIN_S = 30.0
"""How often a plain line is written, and how long work may take without one."""

UNFINISHED = {"compilescope": "unfinished"}
"""The metadata of the output while it shows progress: the front end ends what has them once the
kernel that would have replaced it has ended (``src/notebook/progress.ts``)."""


class Line:
    """The line. Use it as a context around the work; it disappears afterwards, plain lines stay.

    Attributes
    ----------
    handle
        The cell's output that contains it; None outside of a notebook.
    clock
        Shows the elapsed time every second, also while a step is long.
    """

    def __init__(self, *, in_cells: bool = True) -> None:
        self.handle: Any = None
        self._publish: Callable[..., object] = _nowhere
        """Publishes in the cell, also while what the subject displays is muted."""
        self._in_cells = in_cells
        self._ticked = 0.0
        self._write_plain: Callable[[str], object] | None = None
        """Writes plain lines to standard error, even if something replaces it later."""
        self._began = self._written = 0.0
        self._now: Progress | None = None
        self._first: float | None = None
        """When the first job that it shows began."""
        self._most = 0.0
        """The largest fraction of the job shown so far."""
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.clock = threading.Thread(target=self._tick, name="compilescope-clock", daemon=True)

    def start(self) -> None:
        """Creates the line in the cell's output, if there is one, or on standard error."""
        if ipython_shell.kernel() is None:
            if not sys.stderr.isatty():
                # From before: the subject's output is dropped in its repeated calls.
                write, flush = sys.stderr.write, sys.stderr.flush
                self._write_plain = lambda text: (write(text), flush())
                self._began = self._written = time.monotonic()
            self.clock.start()
        elif self._in_cells:
            from IPython import display  # a kernel always has IPython

            handle: Any = display.DisplayHandle  # without types in IPython
            self.handle = handle()
            self.handle.display(_bundle("starting", None), raw=True, metadata=UNFINISHED)
            self._publish = ipython_shell.current().display_pub.publish
            self.clock.start()

    def __enter__(self) -> Line:
        self.start()
        return self

    def show(self, now: Progress) -> None:
        """Shows the step that begins."""
        with self._lock:
            self._now = now
            if time.monotonic() - self._ticked >= _TICK_S:
                self._draw(now)

    def _draw(self, now: Progress) -> None:
        self._ticked = time.monotonic()
        step = f"{now.variant}: {now.step}" if now.variant else now.step
        words = self._words(now)
        if self.handle is not None:
            bundle = _bundle(step, self._fraction(now), words)
            place = {"display_id": self.handle.display_id}
            self._publish(data=bundle, metadata=UNFINISHED, transient=place, update=True)
        elif sys.stderr.isatty():
            shown = f"{step} ({words})" if words else step
            sys.stderr.write(f"\r\033[K{shown} …")
            sys.stderr.flush()
        elif self._write_plain is not None and self._ticked - self._written >= _PLAIN_S:
            self._written = self._ticked
            words = words or time_text(self._ticked - self._began, None)
            try:
                self._write_plain(f"compilescope: {step} ({words}) …\n")
            except (OSError, ValueError):  # its reader has ended, or it was closed
                self._write_plain = None

    def _words(self, now: Progress) -> str:
        """The time since the first job of this line began: a study after a build is one more job.

        What such a job usually takes says nothing of the whole. Beside a step, the time alone would
        read as the step's.
        """
        if now.began is None:
            return time_text(0.0, now.usual)
        if self._first is None:
            self._first = now.began
        usual = now.usual if now.began == self._first else None
        taken = self._ticked - self._first
        words = time_text(taken, usual)
        return f"{words} in total" if words == elapsed(taken) else words

    def _fraction(self, now: Progress) -> float | None:
        """How much is done: a bar never goes back. A later job, which starts at 0, has none."""
        if now.fraction is None:
            return None
        if now.fraction < self._most and now.began != self._first:
            return None
        self._most = max(self._most, now.fraction)
        return self._most

    def _tick(self) -> None:
        while not self._ended.wait(_CLOCK_S):
            with self._lock:
                # Do not overwrite the report's output.
                if self._now is not None and not self._ended.is_set():
                    self._draw(self._now)

    def clear(self) -> None:
        """Ends the line: clears it in a terminal, and stops writing to it in a notebook."""
        with self._lock:
            self._ended.set()
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


def _nowhere(**_: object) -> None:
    """Publishes nothing: there is no cell."""


def _bundle(step: str, fraction: float | None, waited: str = "") -> dict[str, str]:
    """A step as a notebook's output."""
    share = "" if fraction is None else f" ({percent(fraction)})"
    value = "" if fraction is None else Markup(' value="{:.3f}" max="1"').format(fraction)
    bar = Markup('<progress{} aria-label="progress of the inspection"></progress>').format(value)
    waited = f", {waited}" if waited else ""
    return {
        "text/html": Markup("{} {}{}").format(bar, step, waited),
        "text/plain": f"{step}{share}{waited} …",
    }
