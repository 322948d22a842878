"""The handlers of the panel's commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ..inspection.inspection import Inspection
from ..jobs.jobs import Job
from ..report import Struct
from ..report.errors import CompilescopeError
from ..report.subjects.watching import WatchState
from ..report.tiers import current as current_tiers
from ..session.session import Session
from ..session.what_if import count_fails, what_if_text
from ..studies.context import StudyProcesses
from ..torch_api.process.environment import environment
from ..version import __version__
from . import (
    checkups,
    measuring,
    messages,
    report_parts,
    report_without_texts,
    saved_reports,
    sweeps,
    tiers,
)

_START = (
    "__import__('compilescope.session.session', fromlist=['_'])"
    ".get_session().panel_jobs.run_pending()"
)
"""An expression, so that it leaves no name in the user's namespace."""


def hello(session: Session, _: messages.Hello) -> messages.HelloResult:
    """Everything a fresh panel needs."""
    return messages.HelloResult(
        protocol=messages.PROTOCOL_VERSION,
        package=__version__,
        torch=environment().torch,
        choices=session.choices(),
        subjects=subjects(session),
        jobs=[report_without_texts.job(job) for job in session.jobs.active],
        watching=session.watcher.state(),
        tiers=current_tiers(),
        session=session.id,
    )


def heartbeat(session: Session, _: messages.Heartbeat) -> messages.Done:
    """Does nothing: the request itself shows that the client is alive."""
    return messages.Done()


def get_report(session: Session, request: messages.GetReport) -> messages.ReportSummary:
    """The summary of a subject's report."""
    inspection = session.inspection(request.subject)
    revision = session.revisions.get(request.subject, 0)
    if not isinstance(inspection, Inspection):
        return report_without_texts.report(inspection.report, revision)
    return report_without_texts.report(
        inspection.report, revision, list(inspection.requested), inspection.sources.ready()
    )


def get_artifact(session: Session, request: messages.GetArtifact) -> messages.ArtifactResult:
    """One artifact's text."""
    inspection = session.inspection(request.subject)
    return report_without_texts.artifact(
        inspection.report, request.variant, request.compilation, request.artifact
    )


def get_variant(session: Session, request: messages.GetVariant) -> messages.VariantResult:
    """A variant with its compilations in outline."""
    report = session.inspection(request.subject).report
    return messages.VariantResult(
        revision=session.revisions.get(request.subject, 0),
        variant=report_parts.variant(report, request.variant),
    )


def get_compilation(
    session: Session, request: messages.GetCompilation
) -> messages.CompilationResult:
    """Parts of a compilation."""
    if "guards" in request.parts:
        count_fails(session, request.subject, request.compilation)
    report = session.inspection(request.subject).report
    return messages.CompilationResult(
        revision=session.revisions.get(request.subject, 0),
        compilation=report_parts.compilation(
            report, request.variant, request.compilation, request.parts
        ),
    )


def get_graph(session: Session, request: messages.GetGraph) -> messages.GraphResult:
    """A stage's graph."""
    report = session.inspection(request.subject).report
    return messages.GraphResult(
        revision=session.revisions.get(request.subject, 0),
        graph=report_parts.graph(report, request.variant, request.compilation, request.stage),
    )


def search(session: Session, request: messages.Search) -> messages.SearchResult:
    """The lines that hold a text."""
    return report_without_texts.search(session.inspection(request.subject).report, request.text)


def what_if(session: Session, request: messages.WhatIf) -> messages.WhatIfResult:
    """Which guards would fail for other arguments."""
    answer = what_if_text(
        session, request.subject, request.variant, request.arguments, request.compilation
    )
    return msgspec.convert(answer, messages.WhatIfResult, from_attributes=True)


def set_watch(session: Session, request: messages.SetWatch) -> WatchState:
    """Turns watching on or off, and clears what was recorded."""
    watcher = session.watcher
    if request.clear:
        watcher.clear()
    if request.on:
        watcher.on()
    else:
        watcher.off()
    return watcher.state()


def add_variant(session: Session, request: messages.AddVariant) -> messages.AddVariantResult:
    """A variant's sources, now or by a job."""
    name, job = session.panel_jobs.sources(request.subject, request.variant)
    return messages.AddVariantResult(
        name=name,
        revision=session.revisions.get(request.subject, 0),
        job=report_without_texts.job(job) if job is not None else None,
        code=_code(job),
    )


def _code(job: Job | None) -> str:
    """The code that starts a job; empty if the job runs on another thread."""
    return "" if job is None or job.aside else _START


def start_run(session: Session, request: messages.StartRun) -> messages.StartRunResult:
    """Queues building, checking and timing."""
    job = session.panel_jobs.run(request.subject, request.variants)
    return messages.StartRunResult(job=report_without_texts.job(job), code=_code(job))


def start_measure(session: Session, request: messages.StartMeasure) -> messages.StartRunResult:
    """Queues measuring variants."""
    job = session.panel_jobs.measure(
        request.subject, request.variants, seconds=request.seconds, restart=request.restart
    )
    return messages.StartRunResult(job=report_without_texts.job(job), code=_code(job))


def get_measurement(session: Session, request: messages.GetMeasurement) -> messages.Measurement:
    """The progress of a subject's measurement."""
    return measuring.measurement(
        request.subject, session.measurement(request.subject), request.since
    )


def start_studies(session: Session, request: messages.StartStudies) -> messages.StartRunResult:
    """Queues closer looks at variants."""
    job = session.panel_jobs.study(
        request.subject,
        request.studies,
        request.variants,
        request.options,
        StudyProcesses(request.executor or None),
    )
    return messages.StartRunResult(job=report_without_texts.job(job), code=_code(job))


def get_study_choices(session: Session, request: messages.GetStudyChoices) -> messages.StudyChoices:
    """What the options of a study take for a variant."""
    choices = session.panel_jobs.choices(request.subject, request.study, request.variant)
    return messages.StudyChoices(choices=choices)


def get_reproducer(session: Session, request: messages.GetReproducer) -> messages.ReproducerResult:
    """A standalone program of a kernel or graph, or the job that writes and tries it."""
    job, reproducer = session.reproducer(
        request.subject,
        request.variant,
        request.compilation,
        kernel=request.kernel,
        graph=request.graph,
        minify=request.minify,
        restart=request.restart,
    )
    return messages.ReproducerResult(
        job=report_without_texts.job(job),
        reproducer=None if reproducer is None else report_without_texts.reproducer(reproducer),
    )


def cancel(session: Session, request: messages.Cancel) -> messages.Done:
    """Asks a job to stop."""
    session.jobs.cancel(request.job)
    return messages.Done()


def forget(session: Session, request: messages.Forget) -> messages.Done:
    """Drops a subject."""
    session.forget(request.subject)
    return messages.Done()


def save_report(session: Session, request: messages.SaveReport) -> messages.SaveReportResult:
    """The whole report as the text of a file."""
    report = session.inspection(request.subject).report
    if request.redact:
        report = report.redacted()
    text, ending = saved_reports.saved(report, request.format)
    if request.redact:
        # The name tells the redacted file, which is safe to send, from the complete one.
        ending = f"redacted.{ending}"
    return messages.SaveReportResult(filename=f"{report.subject.name}.{ending}", text=text)


def of_traces_alone(session: Session, _: Any) -> Struct:
    """Refuse what only the reader of a log can do: see `trace_answers`."""
    raise CompilescopeError(
        "A kernel has no log that it could read on or compare.",
        "It holds a trace as a finished report.",
        "Open the log from the file browser, with Open with Compilescope.",
    )


def subjects(session: Session) -> list[messages.SubjectSummary]:
    """The list of subjects, the latest first."""
    return [
        report_without_texts.subject(inspection.report, session.revisions.get(subject, 0))
        for subject, inspection in reversed(list(session.inspections.items()))
    ]


HANDLERS: dict[str, Callable[[Session, Any], Struct]] = {
    "hello": hello,
    "heartbeat": heartbeat,
    "get_report": get_report,
    "get_artifact": get_artifact,
    "get_variant": get_variant,
    "get_compilation": get_compilation,
    "get_graph": get_graph,
    "search": search,
    "compare_trace": of_traces_alone,
    "read_on": of_traces_alone,
    "what_if": what_if,
    "set_watch": set_watch,
    "add_variant": add_variant,
    "start_run": start_run,
    "start_measure": start_measure,
    "get_measurement": get_measurement,
    "start_studies": start_studies,
    "get_study_choices": get_study_choices,
    "start_sweep": sweeps.start,
    "cancel_sweep": sweeps.cancel,
    "get_sweep": sweeps.get,
    "cancel": cancel,
    "forget": forget,
    "save_report": save_report,
    "get_checkup": checkups.get,
    "get_reproducer": get_reproducer,
    "pin_tier": tiers.pin,
}
"""Command → what it does; the same names as `messages.COMMANDS`."""


def unknown(command: str) -> CompilescopeError:
    """The error for an unknown command."""
    return CompilescopeError(
        f"The kernel's compilescope does not know the command {command!r}.",
        "The panel and the kernel have different versions.",
        "Install the same version of jupyterlab-compilescope in both and restart them.",
    )
