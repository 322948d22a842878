"""The standalone programs that the panel requested, each written and tried by a job."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress

from ..distributed.remote_report import RemoteSubject
from ..inspection.inspection import Inspection
from ..jobs.jobs import Job, Jobs
from ..jobs.runner import Work
from ..report import Report
from ..report.errors import CompilescopeError
from ..reproducers.program import Reproducer, Request
from ..reproducers.reproduce import reproduce
from ..watching.watch import Watch

_Key = tuple[str, Work]
"""The variant, and what of it is reproduced."""


class Reproducers:
    """The latest job for each kernel or graph of the subjects, and its program once it is done.

    Safe to use from any thread.

    Parameters
    ----------
    jobs
        Where the jobs are listed and canceled.
    """

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._lock = threading.Lock()
        self._inspections: dict[str, Inspection | Watch | RemoteSubject] = {}
        self._latest: dict[str, dict[_Key, Job]] = {}
        self._programs: dict[str, Reproducer] = {}
        """By the id of the job."""

    def program(
        self,
        inspection: Inspection | Watch | RemoteSubject,
        variant: str,
        work: Work,
        *,
        restart: bool,
    ) -> tuple[Job, Reproducer | None]:
        """The job of a kernel or graph, started if there is none, and its program if it is done.

        ``restart`` starts another job if the last one has ended.

        Raises
        ------
        CompilescopeError
            The report has no such variant.
        """
        report = inspection.report
        report.variant(variant)
        subject = report.subject.id
        with self._lock:
            if self._inspections.get(subject) is not inspection:
                # The cell ran again: programs of the earlier report show earlier code.
                self._drop(subject)
                self._inspections[subject] = inspection
            jobs = self._latest.setdefault(subject, {})
            job = jobs.get((variant, work))
            if job is None or (restart and job.ended.is_set()):
                job = self._start(report, variant, work)
                jobs[variant, work] = job
            return job, self._programs.get(job.id)

    def forget(self, subject: str) -> None:
        """Drops the programs of a subject, and cancels the jobs that still run."""
        with self._lock:
            self._drop(subject)

    def retain_only(self, inspections: Mapping[str, Inspection | Watch | RemoteSubject]) -> None:
        """Forgets all subjects but these; one that was inspected again is another."""
        with self._lock:
            for subject, inspection in list(self._inspections.items()):
                if inspections.get(subject) is not inspection:
                    self._drop(subject)

    def _drop(self, subject: str) -> None:
        self._inspections.pop(subject, None)
        for job in self._latest.pop(subject, {}).values():
            self._programs.pop(job.id, None)
            self._jobs.cancel(job.id)

    def _start(self, report: Report, variant: str, work: Work) -> Job:
        job, _ = self._jobs.in_own_thread(report.subject.id, [variant], work)

        threading.Thread(
            target=self._run, args=(job, report), name=f"compilescope-{job.id}", daemon=True
        ).start()
        return job

    def _run(self, job: Job, report: Report) -> None:
        (variant,), work = job.variants, job.work
        # The job has the error, and the panel shows it.
        with suppress(CompilescopeError), self._jobs.running(job) as monitor:
            monitor.step("writing the program", variant=variant)
            request = Request(
                kernel=work.kernel or None,
                graph=work.graph or None,
                compilation=work.compilation,
                variant=variant,
                minify=work.minify,
            )
            program = reproduce(
                report,
                request,
                cancelled=lambda: monitor.cancelled,
                stepped=lambda step: monitor.step(step, variant=variant),
            )
            monitor.check()
            self._programs[job.id] = program
