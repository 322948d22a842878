"""Work for the kernel's main thread: queued, running, ended."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal

import msgspec

from ..progress.history import History, UsualDuration
from ..progress.progress import Cancelled, Monitor, Progress
from ..report.errors import CompilescopeError
from ..report.problem import Problem
from ..report.variant import Variant
from ..torch_api.failures import failures
from .runner import Work

State = Literal["queued", "running", "done", "cancelled", "failed"]


class Job(msgspec.Struct, kw_only=True):
    """A piece of work.

    ``state`` is queued, running, done, canceled or failed. ``fraction`` is the part that is done,
    from 0 to 1, or None when unknown.
    """

    id: str
    subject: str
    variants: list[str]
    work: Work
    requested: dict[str, Variant] = {}
    """Variants that the report does not have yet."""
    state: State = "queued"
    variant: str = ""
    step: str = ""
    fraction: float | None = None
    error: Problem | None = None
    aside: bool = False
    """It runs on another thread: an interrupt would stop the main thread instead."""
    needs_main_thread: bool = False
    """It needs the main thread after all, and has ended: request it again."""
    may_leave: bool = False
    """It may continue on another thread before it ends."""
    kind: str = ""
    """The key of similar jobs in the history; empty if its time is not recorded."""
    usual: UsualDuration | None = None
    """How long similar jobs took before."""
    since: float = msgspec.field(default_factory=time.monotonic)
    """When it was queued; once it runs, when it began to."""
    ended: threading.Event = msgspec.field(default_factory=threading.Event)

    @property
    def elapsed_s(self) -> float:
        """How long it has waited, or run."""
        return time.monotonic() - self.since


class Jobs:
    """The kernel's jobs: one runs at a time, besides those that call no user code.

    Safe to call from any thread.

    Parameters
    ----------
    changed
        Called with a job after it moved on.
    kind_of
        Returns the history key of a job when it starts; empty if its time says nothing about
        other jobs.
    """

    def __init__(
        self,
        changed: Callable[[Job], None],
        kind_of: Callable[[Job], str] = lambda job: "",
    ) -> None:
        self._changed = changed
        self._kind_of = kind_of
        self._history = History()
        self._numbers = itertools.count(1)
        self._queue: list[Job] = []
        self._monitors: dict[str, Monitor] = {}
        self._lock = threading.Lock()
        self.has_built = False
        """Whether a job of this process has built something: the first takes longest."""
        self.current: Job | None = None
        self.aside: list[Job] = []
        """The jobs that run in their own threads."""

    @property
    def active(self) -> list[Job]:
        """Those yet to end, each kind by age: on the main thread, waiting for it, aside."""
        with self._lock:
            running = [self.current] if self.current is not None else []
            return [*running, *self._queue, *self.aside]

    def new(self, subject: str, variants: Sequence[str], work: Work) -> Job:
        """A job that is about to run here."""
        return Job(
            id=f"job-{next(self._numbers)}", subject=subject, variants=list(variants), work=work
        )

    def queue(
        self,
        subject: str,
        variants: Sequence[str],
        work: Work,
        requested: Mapping[str, Variant] | None = None,
        *,
        may_leave: bool = False,
    ) -> Job:
        """A job that waits for the main thread; an equal waiting job is reused.

        The same holds for one that runs and `may_leave` the main thread.
        """
        with self._lock:
            running = [self.current] if self.current is not None and self.current.may_leave else []
            for job in [*self._queue, *running]:
                if _is_for(job, subject, variants, work) and not self._is_cancelled(job):
                    return job
            job = self.new(subject, variants, work)
            job.requested, job.may_leave = dict(requested or {}), may_leave
            self._queue.append(job)
        self._changed(job)
        return job

    def in_own_thread(self, subject: str, variants: Sequence[str], work: Work) -> tuple[Job, bool]:
        """A job for a thread of its own, and whether it is new: an equal running one is reused.

        It counts as queued until its first step, and can be canceled from now on.
        """
        with self._lock:
            for job in self.aside:
                if _is_for(job, subject, variants, work) and not self._is_cancelled(job):
                    return job, False
            job = self.new(subject, variants, work)
            job.aside = True
            self.aside.append(job)
            self._monitors[job.id] = self._monitor(job, None)
        self._changed(job)
        return job, True

    def next(self) -> Job | None:
        """The oldest waiting job, taken from the queue."""
        with self._lock:
            return self._queue.pop(0) if self._queue else None

    def drop(self, job: Job) -> None:
        """Ends a job that never ran."""
        self._end(job, "cancelled")

    def cancel(self, name: str) -> None:
        """Asks a job to stop: a waiting one is dropped, a running one ends at its next step.

        A compile on the main thread ends immediately if the kernel is also interrupted; code
        generation in a thread of its own ends immediately without that.
        """
        with self._lock:
            waiting = [job for job in self._queue if job.id == name]
            for job in waiting:
                self._queue.remove(job)
            monitor = self._monitors.get(name)
        for job in waiting:
            self._end(job, "cancelled")
        if monitor is not None:
            monitor.cancel()

    @contextmanager
    def running(
        self,
        job: Job,
        progress: Callable[[Progress], None] | None = None,
    ) -> Iterator[Monitor]:
        """Runs the block as this job.

        A canceled job ends quietly. Interrupts and unexpected errors are passed on. A job for
        which `leave` was called does not end with the block, but with that of another `running`.
        """
        was_aside = job.aside
        if not was_aside:
            self._monitors[job.id] = self._monitor(job, progress)
        monitor = self._monitors[job.id]
        state: State = "failed"
        try:
            if not was_aside:
                self.current = job
                self._run(job)
            with monitor.keeping_interrupts():
                yield monitor
            state = "done"
        except Cancelled:
            state = "cancelled"
        except KeyboardInterrupt:
            state = "cancelled"
            raise
        except CompilescopeError as error:
            job.error = error.problem
            raise
        except Exception as error:
            job.error = failures.explain(error)
            raise
        finally:
            leaves = job.aside and not was_aside and state == "done"
            with self._lock:
                if was_aside:
                    self.aside.remove(job)
                else:
                    self.current = None
                if leaves:
                    self.aside.append(job)
                else:
                    del self._monitors[job.id]
            if leaves:
                self._changed(job)
            else:
                self._end(job, state)

    def leave(self, job: Job) -> None:
        """Moves a job from the main thread to another one, once its block has ended."""
        with self._lock:
            job.aside = True

    def _is_cancelled(self, job: Job) -> bool:
        monitor = self._monitors.get(job.id)
        return monitor is not None and monitor.cancelled

    def _monitor(self, job: Job, progress: Callable[[Progress], None] | None) -> Monitor:
        def step(now: Progress) -> None:
            job.step, job.variant, job.fraction = now.step, now.variant, now.fraction
            self._run(job)
            if progress is not None:
                progress(msgspec.structs.replace(now, began=job.since, usual=job.usual))

        return Monitor(step)

    def _run(self, job: Job) -> None:
        if job.state != "running":
            job.kind = self._kind_of(job)
            job.usual = self._history.usual(job.kind) if job.kind else None
            job.state, job.since = "running", time.monotonic()
        self._changed(job)

    def _end(self, job: Job, state: State) -> None:
        if state == "done" and job.kind and not job.needs_main_thread:
            self._history.add(job.kind, job.elapsed_s)
            self.has_built |= job.work.kind == "build" and job.work.build
        job.state, job.step, job.fraction = state, "", None
        self._changed(job)
        job.ended.set()


def _is_for(job: Job, subject: str, variants: Sequence[str], work: Work) -> bool:
    return (job.subject, job.variants, job.work) == (subject, list(variants), work)
