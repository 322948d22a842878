"""The panel's jobs, which run on the main thread or, if they call no subject, on another."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress

from ..inspection import variants as names
from ..inspection.inspection import Inspection
from ..inspection.report_updates import find
from ..jobs.jobs import Job, Jobs
from ..jobs.runner import Prepared, Work, carry_out_aside, is_aside, prepare
from ..report.measurements.study_choice import StudyChoice
from ..report.variant import Variant
from ..studies.context import HERE, StudyProcesses
from ..studies.options import Selected
from ..studies.run import check_processes, check_studies
from ..studies.table import options_of
from ..targets import target_variants
from .queued_work import check_options, check_seconds, requested_variants
from .subject_calls import SubjectCalls
from .subjects import Subjects

PATIENCE_S = 0.5
"""How long the panel's request waits for sources; after that a job provides them."""


class PanelJobs:
    """Queues the panel's jobs, and does them.

    Parameters
    ----------
    jobs
        The kernel's list of jobs.
    subjects
        The subjects that they are about.
    calls
        Does what calls a subject.
    """

    def __init__(self, jobs: Jobs, subjects: Subjects, calls: SubjectCalls) -> None:
        self._jobs = jobs
        self._subjects = subjects
        self._calls = calls

    def sources(self, subject: str, variant: Variant) -> tuple[str, Job | None]:
        """Generates a variant's sources in the background; takes no longer than `PATIENCE_S`.

        If a capture exists, the variant is for a target, or another process can make the capture, a
        separate thread generates them, even while a cell runs. Otherwise a job for the main thread
        (`run_pending`) makes a new capture, which calls the subject, and a thread generates the
        code. If called on the main thread (in a kernel without subshells), the job generates code
        of this process there: a thread would overlap the user's next cell, and could not be
        interrupted. May be called from any thread.

        Returns
        -------
        str
            The variant's name in the report.
        Job or None
            The job; None when the sources are in the report. If it ends with
            ``needs_main_thread``, the sources have to be requested again.
        """
        variant = names.checked(variant)
        is_main = threading.current_thread() is threading.main_thread()
        end = time.monotonic() + PATIENCE_S
        while True:
            inspection = self._subjects.callable(subject)
            name = names.name_in(inspection.report, variant)
            before = find(inspection.report, name)
            if before is not None and before.stage != "failed":
                return name, None
            requested = {name: variant}
            if _needs_main_thread(inspection, variant, is_main=is_main):
                job = self._jobs.queue(
                    subject, [name], Work(build=False), requested, may_leave=not is_main
                )
                return name, job
            job, is_new = self._start_in_thread(inspection, requested, Work(build=False))
            if not job.ended.wait(max(0.0, end - time.monotonic())):
                return name, job
            if job.needs_main_thread or self._subjects.inspections.get(subject) is not inspection:
                continue  # the cell ran again meanwhile, which cancels the job
            now = find(inspection.report, name)
            if job.state == "done" and now is not None and now is not before:
                return name, None
            # A job that was running already may have put its result, a failure, into the report
            # before this request: then the sources are tried once more.
            if is_new or job.state != "done":
                return name, job

    def run(self, subject: str, variants: Sequence[str] = ()) -> Job:
        """Queues building, checking and timing variants: all of the report's if none is named.

        Afterwards also the breakdown of a call's time, if that takes only seconds.

        Raises
        ------
        CompilescopeError
            A name that the report does not have.
        """
        return self._queue(subject, variants, Work(breakdown=True))

    def measure(
        self, subject: str, variants: Sequence[str], *, seconds: float, restart: bool
    ) -> Job:
        """Queues measuring variants, all that can be built if none is named.

        Afterwards also the breakdown of a call's time, if there is none and it takes only seconds.

        A running measurement of the same subject ends at its next round, and the new one continues
        with its samples if possible.

        Raises
        ------
        CompilescopeError
            The report lacks a named variant, or the time is invalid.
        """
        check_seconds(seconds)
        work = Work(kind="measure", seconds=seconds, restart=restart, breakdown=True)
        report = self._subjects.callable(subject).report
        target_variants.refuse(
            {name: report.variant(name).requested for name in variants}, "measured"
        )
        # Looked up first: the main thread may take the new job as soon as it is queued.
        running = self._jobs.current
        job = self._queue(subject, variants, work)
        if running is not None and (running.subject, running.work.kind) == (subject, "measure"):
            self._jobs.cancel(running.id)
        return job

    def study(
        self,
        subject: str,
        studies: Sequence[str],
        variants: Sequence[str],
        options: Selected | None = None,
        processes: StudyProcesses = HERE,
    ) -> Job:
        """Queues studies of variants, of all built ones if none is named.

        Raises
        ------
        CompilescopeError
            The report lacks a named variant, or a study, an option, a selected name or an executor
            does not exist.
        """
        check_studies(studies)
        check_processes(studies, processes)
        inspection = self._subjects.callable(subject)
        requested = requested_variants(inspection, variants, "study")
        check_options(inspection, studies, options or {}, requested)
        selected = tuple((name, tuple(names)) for name, names in (options or {}).items())
        work = Work(kind="study", studies=tuple(studies), options=selected, processes=processes)
        return self._queue(subject, variants, work)

    def choices(self, subject: str, study: str, variant: str) -> dict[str, list[StudyChoice]]:
        """What the options of a study take for a variant; may be called from any thread.

        Raises
        ------
        CompilescopeError
            The report lacks the variant, or the study does not exist.
        """
        check_studies([study])
        inspection = self._subjects.callable(subject)
        report = inspection.report.variant(variant)
        return {
            option.name: inspection.choices(option, report) for _, option in options_of([study])
        }

    def _queue(self, subject: str, variants: Sequence[str], work: Work) -> Job:
        inspection = self._subjects.callable(subject)
        requested = requested_variants(inspection, variants, work.kind)
        if requested and is_aside(requested):
            return self._start_in_thread(inspection, requested, work)[0]
        return self._jobs.queue(subject, list(requested), work, requested)

    def _start_in_thread(
        self, inspection: Inspection, requested: Mapping[str, Variant], work: Work
    ) -> tuple[Job, bool]:
        """Starts work in a separate thread, unless equal work runs; see `Jobs.in_own_thread`."""
        subject = inspection.report.subject.id
        job, is_new = self._jobs.in_own_thread(subject, list(requested), work)
        if is_new:
            if self._subjects.inspections.get(subject) is not inspection:
                # The cell ran again meanwhile, and `Subjects.drop` did not see this job.
                self._jobs.cancel(job.id)
            self._start_aside(job, inspection, requested)
        return job, is_new

    def _start_aside(
        self,
        job: Job,
        inspection: Inspection,
        requested: Mapping[str, Variant],
        prepared: Prepared = Prepared(),  # noqa: B008 - it cannot be changed
    ) -> None:
        """Runs a job in a separate thread."""

        def do() -> None:
            # A cancel may arrive just after the work has ended; the job's state shows that.
            with (
                suppress(KeyboardInterrupt),
                self._jobs.running(job) as monitor,
                ExitStack() as end,
            ):
                if prepared.sent is not None:
                    end.callback(prepared.sent.close)
                job.needs_main_thread = not carry_out_aside(
                    job.work, inspection, requested, monitor, prepared.sent
                )

        threading.Thread(target=do, name=f"compilescope-{job.id}", daemon=True).start()

    def run_pending(self) -> None:
        """Runs the queued jobs, oldest first. The panel makes the kernel's main thread call this.

        Jobs for sources do only the part that calls the subject here; separate threads do the rest.
        An interrupt ends only the running job.
        """
        while (job := self._jobs.next()) is not None:
            inspection = self._subjects.inspections.get(job.subject)
            if not isinstance(inspection, Inspection):
                self._jobs.drop(job)
                continue
            known = {variant.name: variant.requested for variant in inspection.report.variants}
            known |= job.requested
            # The cell may have run again in the meantime, with other variants.
            requested = {name: known[name] for name in job.variants if name in known}
            prepared = None
            try:
                with self._calls.alone(job), self._jobs.running(job) as monitor:
                    if not job.may_leave:
                        self._calls.run(inspection, requested, job.work, monitor)
                    else:
                        prepared = prepare(inspection, requested, monitor)
                        if prepared is not None:
                            self._jobs.leave(job)
            except KeyboardInterrupt:
                pass  # the job's state shows it; the panel requested it
            if prepared is None:
                continue
            if job in self._jobs.aside:
                self._start_aside(job, inspection, requested, prepared)
            elif prepared.sent is not None:
                prepared.sent.close()


def _needs_main_thread(inspection: Inspection, variant: Variant, *, is_main: bool) -> bool:
    """Whether a job for sources belongs on the main thread; it is requested there if `is_main`."""
    if variant.target is not None:
        return False
    if inspection.sources.has_capture(variant):
        return is_main
    return not inspection.sources.may_generate_elsewhere(variant)
