"""The kernel's session: its subjects, jobs and observers."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ..builds.measurement_state import MeasurementProgress
from ..distributed.remote_report import RemoteSubject
from ..distributed.running import run_ranks
from ..inspection import variants as names
from ..inspection.inspection import Inspection
from ..jobs.jobs import Job, Jobs
from ..jobs.observers import Observer, Observers
from ..jobs.runner import Work
from ..jobs.watch_switch import Watcher
from ..processes import executors
from ..processes.executors import ExecutorChoice
from ..progress.progress import Monitor, Progress
from ..report import Problem, Report, SourceLine
from ..report.variant import Choices, Variant
from ..reproducers.program import Reproducer
from ..studies.context import HERE, StudyProcesses
from ..studies.run import check_processes, check_studies
from ..subject.arguments import check_repeatable
from ..sweep.plan import Plan, new_report
from ..sweep.registry import Sweeps
from ..sweep.run import Running
from ..targets import known_devices as known
from ..targets import target_variants
from ..torch_api.dynamo import compile_variant
from ..watching.running_code import RecordedCompilations
from ..watching.watch import Watch
from .panel_jobs import PanelJobs
from .queued_work import check_options, check_seconds, kind_of
from .reproducers import Reproducers
from .subject_calls import SubjectCalls
from .subjects import Subjects, add_watched


class Session:
    """The kernel's one list of subjects.

    Only one thread at a time does work that calls the subject (`inspect`, `add`,
    `panel_jobs.run_pending`), if possible the main thread. Any thread may call
    `panel_jobs.sources` at the same time.
    """

    def __init__(self) -> None:
        self.id = uuid.uuid4().hex
        """The id of the session, which changes when the kernel restarts."""
        self.jobs = Jobs(
            changed=lambda job: self._notify("job", job.subject, job=job), kind_of=self._kind_of
        )
        self._subjects = Subjects(self.jobs)
        self.inspections = self._subjects.inspections
        self.revisions = self._subjects.revisions
        self.watcher = Watcher(
            keep=self._add_inspection, changed=self._watch_changed, ended=self._watch_ended
        )
        self._reproducers = Reproducers(self.jobs)
        self.sweeps = Sweeps(changed=lambda subject: self._notify("sweep", subject))
        self._observers = Observers()
        self.is_shown: Callable[[], bool] = lambda: False
        """Whether a panel or another observer shows the inspections besides the cells."""
        self._calls = SubjectCalls(
            self.jobs,
            measured=lambda subject: self._notify("measured", subject),
            is_shown=lambda: self.is_shown(),
        )
        self.panel_jobs = PanelJobs(self.jobs, self._subjects, self._calls)

    def inspect(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        *,
        variants: object = None,
        run: bool = True,
        breakdown: bool = False,
        progress: Callable[[Progress], None] | None = None,
        cell: str | None = None,
        call: SourceLine | None = None,
        watched: RecordedCompilations | None = None,
        notes: Sequence[Problem] = (),
        studies: Sequence[str] = (),
        study_options: Mapping[str, Sequence[str]] | None = None,
    ) -> Report:
        """Inspects a call; see `compilescope.inspect`.

        ``cell`` is the notebook cell's id, if there is one: a new run then keeps the results of
        earlier runs of the same call. ``call`` is the calling line. ``watched`` has what the cell
        itself compiled; ``notes`` are problems of the report from the start. ``breakdown`` also
        breaks down the time of a call, if that takes only seconds. Failures to compile are problems
        of the report. ``studies`` are the studies that are requested afterwards, and
        ``study_options`` what is selected of them.

        Raises
        ------
        CompilescopeError
            An argument is used up by one call, or an option of the studies takes no such name for
            this call and these variants: nothing is inspected then.
        """
        requested = names.parse(names.USUAL if variants is None else variants)
        # A cell's own call comes first.
        has_worked = watched is not None
        inspection = Inspection(fn, args, kwargs, cell=cell, call=call, has_worked=has_worked)
        if run or cell is not None:  # a cell has made the call already
            check_repeatable(inspection.args, inspection.kwargs)
        inspection.report.problems += notes
        requested = inspection.with_written(fn, requested, chosen=variants is not None)
        check_options(inspection, studies, study_options or {}, requested)
        subject = inspection.report.subject.id
        inspection.results.on_change(functools.partial(self._note_change, subject))
        work = Work(build=run, breakdown=run and breakdown)
        job = self.jobs.new(subject, list(requested), work)
        with self._calls.alone(job):
            inspection.requested = requested
            if cell is not None:
                self._subjects.adopt(inspection, requested)
            self._add_inspection(inspection, focus=True)
            if watched is not None:
                add_watched(inspection, watched)
            with self.jobs.running(job, progress) as monitor:
                self._calls.run(inspection, requested, job.work, monitor)
        return inspection.report

    def add(
        self,
        subject: str,
        variant: Variant,
        *,
        run: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Adds a variant to a subject's report, or builds and times one that it has."""
        variant = names.checked(variant)
        inspection = self._subjects.callable(subject)
        requested = {names.name_in(inspection.report, variant): variant}
        return self._run_work(inspection, requested, Work(build=run), progress)

    def measure(
        self,
        subject: str,
        variants: Mapping[str, Variant],
        *,
        seconds: float = 10.0,
        restart: bool = False,
        breakdown: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Measures variants interleaved with eager, in this thread; see `Inspection.measure`.

        ``breakdown`` also breaks down a call's time, if there is no breakdown and it takes only
        seconds.

        Raises
        ------
        CompilescopeError
            A variant is for a target, which cannot run here, or the time is invalid.
        """
        check_seconds(seconds)
        target_variants.refuse(variants, "measured")
        work = Work(kind="measure", seconds=seconds, restart=restart, breakdown=breakdown)
        return self._run_work(self._subjects.callable(subject), variants, work, progress)

    def study(
        self,
        subject: str,
        studies: Sequence[str],
        variants: Mapping[str, Variant],
        *,
        options: Mapping[str, tuple[str, ...]] | None = None,
        existing: bool = False,
        processes: StudyProcesses = HERE,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Runs studies of variants, in this thread; see `Inspection.study`."""
        check_studies(studies)
        check_processes(studies, processes)
        inspection = self._subjects.callable(subject)
        check_options(inspection, studies, options or {}, variants)
        selected = tuple((options or {}).items())
        work = Work(
            kind="study",
            studies=tuple(studies),
            options=selected,
            existing=existing,
            processes=processes,
        )
        return self._run_work(inspection, variants, work, progress)

    def sweep(
        self, plan: Plan, *, executor: ExecutorChoice = None, workers: int = 1
    ) -> tuple[Report, Running]:
        """Starts a sweep, whose call becomes a subject if it is not one yet.

        It runs in other threads; the report has it in ``sweep`` from now on. A factory's call in
        other processes is not a subject of this kernel, so its report is not in the panel.
        """
        found_inspection = self.inspections.get(plan.subject.id)
        if found_inspection is None and plan.call is not None:
            inspection = found_inspection = Inspection(*plan.call)
            subject = inspection.report.subject.id
            inspection.results.on_change(functools.partial(self._note_change, subject))
            self._add_inspection(inspection, focus=True)
        report = (
            found_inspection.report if found_inspection is not None else new_report(plan.subject)
        )
        running = self.sweeps.start(plan, report, executor=executor, workers=workers)
        if found_inspection is not None:
            self._note_change(report.subject.id, ())
        return report, running

    def ranks(
        self,
        factory: Callable[[], Any],
        *,
        size: int,
        backend: str,
        variants: object,
        run: bool,
        timeout_s: float,
        progress: Callable[[Progress], None] | None = None,
    ) -> list[Report]:
        """Inspects a factory's call on several ranks; see `compilescope.ranks`."""
        reports = run_ranks(
            factory,
            names.parse(variants),
            size=size,
            backend=backend,
            build=run,
            timeout_s=timeout_s,
            monitor=Monitor(progress),
        )
        # The list of subjects has the latest first.
        for report in reversed(reports):
            where = f"rank {report.rank.rank} of {size}" if report.rank is not None else ""
            self._add_inspection(RemoteSubject(report, where), focus=report is reports[0])
        return reports

    def _run_work(
        self,
        inspection: Inspection,
        requested: Mapping[str, Variant],
        work: Work,
        progress: Callable[[Progress], None] | None,
    ) -> Report:
        job = self.jobs.new(inspection.report.subject.id, list(requested), work)
        with self._calls.alone(job), self.jobs.running(job, progress) as monitor:
            self._calls.run(inspection, requested, work, monitor)
        return inspection.report

    def reproducer(
        self,
        subject: str,
        variant: str,
        compilation: str,
        *,
        kernel: str = "",
        graph: str = "",
        minify: bool = False,
        restart: bool = False,
    ) -> tuple[Job, Reproducer | None]:
        """The job that writes and tries a standalone program, and the program once it is done.

        The first call starts the job, in a separate thread; ``restart`` starts another one if the
        last one has ended. With ``minify`` the job looks for a smaller graph that fails.

        Raises
        ------
        CompilescopeError
            The subject or the variant does not exist.
        """
        inspection = self.inspection(subject)
        work = Work(
            kind="reproduce", compilation=compilation, kernel=kernel, graph=graph, minify=minify
        )
        return self._reproducers.program(inspection, variant, work, restart=restart)

    def inspection(self, subject: str) -> Inspection | Watch | RemoteSubject:
        """The inspection of a subject; or its watch, or the process that it belongs to.

        Raises
        ------
        CompilescopeError
            The subject does not exist: it was dropped, or the kernel was restarted.
        """
        return self._subjects.get(subject)

    def measurement(self, subject: str) -> MeasurementProgress:
        """The state of a subject's measurement.

        Raises
        ------
        CompilescopeError
            The subject does not exist or cannot be called.
        """
        return self._subjects.callable(subject).measurement

    def forget(self, subject: str) -> None:
        """Drops a subject with its report, its captures and its references to the arguments."""
        dropped = self._subjects.drop(subject)
        self._reproducers.forget(subject)
        self.sweeps.retain_only(self.inspections)
        if isinstance(dropped, Watch):
            self.watcher.forget(dropped)
            self._notify("watch", subject)
        self._notify("subjects", "")

    def choices(self) -> Choices:
        """The values that the installed torch allows for each switch, and the executors."""
        off = known.unavailable()
        return Choices(
            backends=compile_variant.usual_backends(),
            modes=compile_variant.modes(),
            targets=[] if off else known.names(),
            titles={} if off else known.titles(),
            groups={} if off else known.groups(),
            targets_off=off,
            executors=executors.names(),
        )

    def note_choices(self) -> None:
        """Notifies the observers of other choices."""
        self._notify("choices", "")

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Calls an observer after changes; the result ends that."""
        return self._observers.add(observer)

    def _kind_of(self, job: Job) -> str:
        inspection = self.inspections.get(job.subject)
        if not isinstance(inspection, Inspection):
            return ""
        return kind_of(job, inspection, is_first=not self.jobs.has_built)

    def _add_inspection(
        self, inspection: Inspection | Watch | RemoteSubject, focus: bool = False
    ) -> None:
        subject = inspection.report.subject.id
        self._subjects.add(inspection)
        self._reproducers.retain_only(self.inspections)
        self.sweeps.retain_only(self.inspections)
        self._notify("subjects", subject if focus else "")

    def _watch_changed(self, watch: Watch) -> None:
        subject = watch.report.subject.id
        if subject in self.inspections:
            self._note_change(subject)
        self._notify("watch", subject)

    def _watch_ended(self, watch: Watch) -> None:
        subject = watch.report.subject.id
        if subject in self.inspections and watch.state().compilations:
            self._notify("offer", subject)

    def _note_change(self, subject: str, variants: Collection[str] | None = None) -> None:
        self._subjects.note_change(subject)
        self._observers.notify("report", subject, variants=variants)

    def _notify(self, kind: str, subject: str, job: Job | None = None) -> None:
        self._observers.notify(kind, subject, job)


_session: Session | None = None


def get_session() -> Session:
    """The kernel's session, created on first use."""
    global _session
    if _session is None:
        _session = Session()
    return _session
