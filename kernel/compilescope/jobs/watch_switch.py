"""The kernel's switch for watching, and the watches of ``with compilescope.watch()``."""

from __future__ import annotations

import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import notebook_cells
from ..package_folder import INSIDE
from ..report import Report, SourceLine
from ..report.subjects.watching import WatchState
from ..watching.watch import MEMORY_MB, Watch


class Watcher:
    """Begins and ends watches. Safe to use from any thread.

    Parameters
    ----------
    keep
        Called with a new watch: it becomes a subject.
    changed
        Called with a watch that has changed.
    ended
        Called with the watch of a block when the block has ended.
    """

    def __init__(
        self,
        keep: Callable[[Watch], None],
        changed: Callable[[Watch], None],
        ended: Callable[[Watch], None],
    ) -> None:
        self._keep = keep
        self._changed = changed
        self._ended = ended
        self._switch: Watch | None = None
        self._lock = threading.RLock()
        self._number = 0

    @property
    def switch(self) -> Watch | None:
        """The watch that `on` began last; None before that, and after it was forgotten."""
        return self._switch

    def on(self, memory_mb: float | None = None) -> Watch:
        """Begins to watch until `off`, or resumes an earlier watch.

        Parameters
        ----------
        memory_mb
            How much may be held. With another figure than before, a new watch begins.
        """
        with self._lock:
            watch = self._switch
            if watch is not None and memory_mb not in (None, watch.memory_mb):
                watch.stop()
                watch = None
            if watch is None:
                cell = notebook_cells.running()
                watch = self._new("watch", None, cell.id if cell else None, memory_mb or MEMORY_MB)
                self._switch = watch
                self._keep(watch)
            elif not watch.is_on:
                # Its report may have been evicted meanwhile.
                self._keep(watch)
            watch.start()
        self._changed(watch)
        return watch

    def off(self) -> bool:
        """Ends what `on` began; what was seen stays. Says whether it was on."""
        with self._lock:
            watch = self._switch
            was_on = watch is not None and watch.is_on
            if watch is not None:
                watch.stop()
        if watch is not None:
            self._changed(watch)
        return was_on

    def clear(self) -> None:
        """Clears what was recorded; watching continues if it is on."""
        if self._switch is not None:
            self._switch.clear()
            self._changed(self._switch)

    def forget(self, watch: Watch) -> None:
        """Ends a watch that is dropped with its report."""
        watch.stop()
        with self._lock:
            if self._switch is watch:
                self._switch = None

    def state(self) -> WatchState:
        """The state of the switch."""
        return self._switch.state() if self._switch is not None else WatchState()

    @contextmanager
    def block(self, memory_mb: float, where: SourceLine | None) -> Iterator[Report]:
        """Watches while the block runs; see `compilescope.watch`."""
        self._number += 1
        cell = notebook_cells.running()
        watch = self._new(f"watch {self._number}", where, cell.id if cell else None, memory_mb)
        self._keep(watch)
        watch.start()
        try:
            yield watch.report
        except Exception as error:
            watch.raised(error)
            raise
        finally:
            watch.stop()
            self._changed(watch)
            self._ended(watch)

    def raised(self, error: BaseException) -> None:
        """A cell ended with this while the kernel is watched, or not."""
        watch = self._switch
        if watch is not None and watch.is_on:
            watch.raised(error)
            self._changed(watch)

    def _new(
        self, name: str, where: SourceLine | None, cell: str | None, memory_mb: float
    ) -> Watch:
        watch = Watch(
            name=name,
            where=where,
            cell=cell,
            memory_mb=memory_mb,
            changed=lambda: self._changed(watch),
        )
        return watch


def caller() -> SourceLine | None:
    """The line outside of this package, and of ``contextlib``, that runs now."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(INSIDE) and Path(name).name != "contextlib.py":
            return SourceLine(file=name, line=frame.f_lineno, function=frame.f_code.co_name)
        frame = frame.f_back
    return None
