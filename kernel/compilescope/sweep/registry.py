"""The sweeps of a kernel, one for each subject."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence

from ..processes.executors import ExecutorChoice
from ..report import Report
from ..report.errors import CompilescopeError
from ..report.measurements.sweeps import Sweep, SweepCell
from .plan import Plan
from .run import Running


class Sweeps:
    """What is being swept. Safe to use from any thread.

    Parameters
    ----------
    changed
        Called with the subject's id after its sweep moved on, in the sweep's own thread.
    """

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._running: dict[str, Running] = {}
        self._news: dict[str, dict[str, SweepCell]] = {}
        self._lock = threading.Lock()

    def start(
        self,
        plan: Plan,
        report: Report,
        *,
        executor: ExecutorChoice = None,
        workers: int = 1,
    ) -> Running:
        """Begins a sweep, which is the report's from now on.

        Raises
        ------
        CompilescopeError
            One of the same subject runs.
        """
        subject = report.subject.id

        def changed(cells: Sequence[SweepCell]) -> None:
            with self._lock:
                self._news.setdefault(subject, {}).update({cell.key: cell for cell in cells})
            self._changed(subject)

        with self._lock:
            before = self._running.get(subject)
            if before is not None and not before.wait(0):
                raise CompilescopeError(
                    "A sweep of this subject is already running.",
                    remedy="Wait for it, or cancel it: its finished cells are kept.",
                )
            running = Running(plan, executor=executor, workers=workers, changed=changed)
            self._running[subject] = running
            self._news.pop(subject, None)
            report.sweep = running.sweep
            running.start()
        self._changed(subject)
        return running

    def cancel(self, subject: str) -> None:
        """Asks a subject's sweep to end, where there is one."""
        with self._lock:
            running = self._running.get(subject)
        if running is not None:
            running.cancel()

    def retain_only(self, subjects: Collection[str]) -> None:
        """Ends the sweeps of all other subjects; those of factories belong to none."""
        with self._lock:
            gone = [
                name
                for name, running_sweep in self._running.items()
                if name not in subjects and running_sweep.plan.call is not None
            ]
            dropped = [self._running.pop(name) for name in gone]
            for name in gone:
                self._news.pop(name, None)
        for running in dropped:
            running.cancel()

    def changed_cells(self, subject: str) -> tuple[Sweep, list[SweepCell]] | None:
        """A sweep, and its cells that have changed since the last request."""
        with self._lock:
            running = self._running.get(subject)
            if running is None:
                return None
            return running.sweep, list(self._news.pop(subject, {}).values())
