"""The jobs of a session: sources, builds, canceling, threads."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.comms import commands, messages, report_without_texts
from compilescope.inspection.code_generation import CodeGeneration
from compilescope.inspection.variant_sources import VariantSources
from compilescope.jobs.jobs import Job
from compilescope.jobs.runner import Work
from compilescope.progress.progress import Progress
from compilescope.report import VariantReport
from compilescope.session import panel_jobs
from compilescope.session.session import Session

from .. import subjects
from .session_support import CPP, Notices, X, in_thread, inspected

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("captured_in_kernel")]


def sourced(session: Session, subject: str, variant: cs.Variant) -> tuple[str, Job | None]:
    """What a subshell's thread is answered, once the job has ended that it may name."""
    name, job = in_thread(lambda: session.panel_jobs.sources(subject, variant))
    assert job is None or job.ended.wait(600)
    return name, job


def test_sources_come_beside_the_main_thread_where_a_capture_serves_and_by_a_job_where_not() -> (
    None
):
    session = Session()
    subject = inspected(session)
    report = session.inspection(subject).report
    assert sourced(session, subject, CPP)[0] == "cpp"
    assert report.variant("cpp").compilations[0].code.cpp
    assert session.panel_jobs.sources(subject, cs.Variant()) == ("python", None)
    dynamic = cs.Variant(dynamic=True)
    name, job = in_thread(lambda: session.panel_jobs.sources(subject, dynamic))
    assert job is not None
    assert (name, job.state, job.variants, job.work.build) == (
        "python dynamic",
        "queued",
        ["python dynamic"],
        False,
    )
    assert session.panel_jobs.sources(subject, dynamic) == (name, job), (
        "asked again it is not doubled"
    )
    session.panel_jobs.run_pending()
    assert job.ended.wait(600)
    assert (job.state, job.aside) == ("done", True)
    assert report.variant(name).requested == dynamic
    assert session.panel_jobs.sources(subject, dynamic) == (name, None)


def test_a_kernel_without_subshells_generates_on_its_main_thread() -> None:
    session = Session()
    subject = inspected(session)
    name, job = session.panel_jobs.sources(subject, CPP)
    assert job is not None
    assert (job.state, job.aside) == ("queued", False)
    session.panel_jobs.run_pending()
    assert session.inspection(subject).report.variant(name).compilations[0].code.cpp


def endless_generation(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Has the generation of code last until it is canceled; returns the event of its begin."""
    begun = threading.Event()

    def endless(self: Any, name: str, variant: cs.Variant, show: Any, coming: Any) -> Any:
        show("generating code: graph passes")
        begun.set()
        while True:
            time.sleep(0.001)

    monkeypatch.setattr(CodeGeneration, "sources", endless)
    return begun


def in_background(work: Callable[[], Any]) -> Callable[[], Any]:
    """Starts ``work`` in a thread; returns what waits for its result."""
    results: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=lambda: results.put(work()), daemon=True).start()
    return lambda: results.get(timeout=600)


def held_after_reuse(session: Session, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The event of a request that is given a job of another request."""
    reused, beside = threading.Event(), session.jobs.in_own_thread

    def watched(*args: Any) -> tuple[Job, bool]:
        job, is_new = beside(*args)
        if not is_new:
            reused.set()
        return job, is_new

    monkeypatch.setattr(session.jobs, "in_own_thread", watched)
    return reused


def test_a_failed_variant_is_tried_again_while_the_job_that_failed_is_ending(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    monkeypatch.setattr(panel_jobs, "PATIENCE_S", 600.0)
    generate = CodeGeneration.sources
    reused = held_after_reuse(session, monkeypatch)
    asked: list[Callable[[], Any]] = []

    def fail(self: Any, name: str, variant: cs.Variant, *_: Any) -> VariantReport:
        monkeypatch.setattr(CodeGeneration, "sources", generate)
        return VariantReport(name=name, requested=variant, stage="failed")

    def ask_again(kind: str, *_: Any) -> None:
        if kind == "report" and not asked:
            # The report has the failure, and its job has not ended yet.
            asked.append(in_background(lambda: session.panel_jobs.sources(subject, CPP)))
            assert reused.wait(600)

    monkeypatch.setattr(CodeGeneration, "sources", fail)
    session.observe(ask_again)
    assert in_thread(lambda: session.panel_jobs.sources(subject, CPP)) == ("cpp", None)
    assert asked[0]() == ("cpp", None)
    cpp = session.inspection(subject).report.variant("cpp")
    assert cpp.stage == "sources"
    assert cpp.compilations[0].code.cpp


def test_sources_are_of_the_report_that_is_there_when_the_cell_runs_again_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    earlier = session.inspection(subject)
    monkeypatch.setattr(panel_jobs, "PATIENCE_S", 600.0)
    beside = session.jobs.in_own_thread

    def run_the_cell_again(*args: Any) -> tuple[Job, bool]:
        monkeypatch.setattr(session.jobs, "in_own_thread", beside)
        assert inspected(session) == subject
        return beside(*args)

    monkeypatch.setattr(session.jobs, "in_own_thread", run_the_cell_again)
    assert in_thread(lambda: session.panel_jobs.sources(subject, CPP)) == ("cpp", None)
    assert session.inspection(subject) is not earlier
    assert session.inspection(subject).report.variant("cpp").compilations[0].code.cpp
    assert [variant.name for variant in earlier.report.variants] == ["python"]


def test_sources_that_a_fault_of_ours_prevents_are_not_said_to_be_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    monkeypatch.setattr(panel_jobs, "PATIENCE_S", 600.0)

    def fail(*_: Any) -> None:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(CodeGeneration, "sources", fail)
    name, job = in_thread(lambda: session.panel_jobs.sources(subject, CPP))
    assert (name, job.state) == ("cpp", "done")
    (problem,) = session.inspection(subject).report.problems
    assert problem.what == "compilescope failed: LookupError: a fault of ours"


def test_slow_code_generation_is_a_job_that_a_cancel_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    notices = Notices(session)
    generate = CodeGeneration.sources
    monkeypatch.setattr(panel_jobs, "PATIENCE_S", 0.0)
    begun = endless_generation(monkeypatch)
    name, job = in_thread(lambda: session.panel_jobs.sources(subject, CPP))
    assert job is not None
    assert begun.wait(600)
    assert (job.aside, job.state, job.step, job.variant) == (
        True,
        "running",
        "generating code: graph passes",
        "cpp",
    )
    assert job.elapsed_s > 0
    assert in_thread(lambda: session.panel_jobs.sources(subject, CPP)) == (name, job), (
        "it is not doubled"
    )
    session.jobs.cancel(job.id)
    assert job.ended.wait(600)
    assert notices.states == [(job.id, "queued"), (job.id, "running"), (job.id, "cancelled")]
    assert session.jobs.aside == []
    assert [variant.name for variant in session.inspection(subject).report.variants] == ["python"]
    monkeypatch.setattr(CodeGeneration, "sources", generate)
    _, again = sourced(session, subject, CPP)
    assert again is not job
    assert session.inspection(subject).report.variant("cpp").stage == "sources"


def test_the_main_thread_is_free_once_the_subject_has_been_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    notices = Notices(session)
    generate = CodeGeneration.sources

    def ask_again(kind: str, _: str, job: Job | None, __: Any) -> None:
        if job is not None and job.step == "Dynamo is tracing the call":
            again.append(in_thread(lambda: session.panel_jobs.sources(subject, dynamic)))
            shown.append(report_without_texts.job(job).step)

    begun = endless_generation(monkeypatch)
    dynamic = cs.Variant(dynamic=True)
    again: list[Any] = []
    shown: list[str] = []
    name, job = in_thread(lambda: session.panel_jobs.sources(subject, dynamic))
    stop = session.observe(ask_again)
    session.panel_jobs.run_pending()
    stop()
    assert session.jobs.current is None
    assert begun.wait(600)
    again.append(in_thread(lambda: session.panel_jobs.sources(subject, dynamic)))
    assert {asked[1].id for asked in again} == {job.id}, "it is not doubled, wherever it runs"
    assert (job.aside, job.state, job.step) == (True, "running", "generating code: graph passes")
    assert shown[0] == "Dynamo is tracing the call; cells wait"
    assert report_without_texts.job(job).step == job.step, "no cell waits any more"
    session.jobs.cancel(job.id)
    assert job.ended.wait(600)
    assert [state for name, state in notices.states if name == job.id] == [
        "queued",
        "running",
        "cancelled",
    ]
    assert [variant.name for variant in session.inspection(subject).report.variants] == ["python"]
    monkeypatch.setattr(CodeGeneration, "sources", generate)
    assert sourced(session, subject, dynamic)[0] == name
    assert session.inspection(subject).report.variant(name).compilations[0].code.python


@pytest.fixture
def fail_next_capture(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Has the next capture raise an error, and those after it run as usual."""
    capture = VariantSources.capture

    def patch(error: BaseException) -> None:
        def fail(self: Any, wanted: Any, monitor: Any) -> None:
            monkeypatch.setattr(VariantSources, "capture", capture)
            raise error

        monkeypatch.setattr(VariantSources, "capture", fail)

    return patch


def test_a_fault_of_ours_on_the_main_thread_ends_the_whole_job(
    fail_next_capture: Callable[[BaseException], None],
) -> None:
    session = Session()
    subject = inspected(session)
    fail_next_capture(LookupError("a fault of ours"))
    _, job = in_thread(lambda: session.panel_jobs.sources(subject, cs.Variant(dynamic=True)))
    session.panel_jobs.run_pending()
    assert (job.state, job.aside, session.jobs.aside) == ("done", False, [])
    (problem,) = session.inspection(subject).report.problems
    assert problem.what == "compilescope failed: LookupError: a fault of ours"


def test_a_waiting_job_can_be_cancelled() -> None:
    session = Session()
    subject = inspected(session)
    notices = Notices(session)
    _, job = session.panel_jobs.sources(subject, cs.Variant(dynamic=True))
    assert job is not None
    session.jobs.cancel(job.id)
    session.jobs.cancel("no such job")
    session.panel_jobs.run_pending()
    assert notices.states == [(job.id, "queued"), (job.id, "cancelled")]
    assert [variant.name for variant in session.inspection(subject).report.variants] == ["python"]
    _, again = session.panel_jobs.sources(subject, cs.Variant(dynamic=True))
    assert again is not None
    assert again.id != job.id
    session.panel_jobs.run_pending()
    assert again.state == "done"


def test_jobs_of_a_forgotten_subject_are_dropped_and_the_others_done() -> None:
    session = Session()
    gone, other = inspected(session), None
    _, first = session.panel_jobs.sources(gone, cs.Variant(dynamic=True))
    other = session.inspect(subjects.plain, (X[:2],), variants="python", run=False).subject.id
    _, second = session.panel_jobs.sources(other, cs.Variant(dynamic=True))
    session.forget(gone)
    session.panel_jobs.run_pending()
    assert first is not None
    assert second is not None
    assert (first.state, second.state) == ("cancelled", "done")


def test_a_variant_that_is_gone_when_its_job_runs_is_left_out() -> None:
    session = Session()
    subject = inspected(session, variants=["python", "cpp"])
    job = session.panel_jobs.run(subject, ["cpp"])
    inspected(session)  # the cell ran again, with fewer variants
    session.panel_jobs.run_pending()
    assert job.state == "done"


def test_a_fault_of_ours_is_reported_and_the_next_job_runs(
    fail_next_capture: Callable[[BaseException], None],
) -> None:
    session = Session()
    subject = inspected(session)
    fail_next_capture(LookupError("a fault of ours"))
    _, first = session.panel_jobs.sources(subject, cs.Variant(dynamic=True))
    _, second = session.panel_jobs.sources(subject, cs.Variant(dynamic=True, cpp_wrapper=True))
    session.panel_jobs.run_pending()
    assert first is not None
    assert second is not None
    assert (first.state, second.state) == ("done", "done")
    report = session.inspection(subject).report
    (problem,) = report.problems
    assert problem.what == "compilescope failed: LookupError: a fault of ours"
    assert "in fail" in problem.detail
    assert [variant.name for variant in report.variants] == ["python", "cpp dynamic"]
    assert session.jobs.current is None


def test_an_interrupt_ends_the_job_that_runs_and_only_that(
    fail_next_capture: Callable[[BaseException], None],
) -> None:
    session = Session()
    subject = inspected(session)
    fail_next_capture(KeyboardInterrupt())
    _, first = session.panel_jobs.sources(subject, cs.Variant(dynamic=True))
    _, second = session.panel_jobs.sources(subject, cs.Variant(dynamic=True, cpp_wrapper=True))
    session.panel_jobs.run_pending()
    assert first is not None
    assert second is not None
    assert (first.state, second.state) == ("cancelled", "done")


def test_a_running_job_is_cancelled_from_another_thread_at_its_next_step() -> None:
    session = Session()
    seen: list[str] = []

    def progress(now: Progress) -> None:
        seen.append(now.step)
        job = session.jobs.current
        assert job is not None
        in_thread(lambda: session.jobs.cancel(job.id))

    notices = Notices(session)
    report = session.inspect(subjects.plain, (X,), run=True, progress=progress)
    assert seen == ["loading Inductor"]
    assert notices.states == [("job-1", "running"), ("job-1", "cancelled")]
    assert report.variants == []
    assert session.inspect(subjects.plain, (X,), run=False).variants[0].stage == "sources"


def test_two_inspections_do_not_run_at_once() -> None:
    session = Session()
    calls: list[Any] = []

    def progress(_: Progress) -> None:
        if not calls:
            calls.append(in_thread(lambda: inspected(session)))

    report = session.inspect(subjects.plain, (X,), variants="python", run=False, progress=progress)
    assert str(calls[0]) == (
        "Another inspection is running in this kernel. A subject is called by one thread at a "
        "time. Wait for it, or cancel it."
    )
    assert isinstance(calls[0], cs.CompilescopeError)
    assert session.inspection(report.subject.id).report is report, "the running one stays"
    assert report.variants[0].stage == "sources"


def test_a_subject_that_inspects_is_told_so() -> None:
    session = Session()

    def nested(x: torch.Tensor) -> torch.Tensor:
        session.inspect(subjects.plain, (x,), run=False)
        return x + 1

    report = session.inspect(nested, (X,), variants="python", run=False)
    (problem,) = report.variant("python").problems
    assert "Another inspection is running in this kernel." in problem.what
    assert list(session.inspections) == [report.subject.id]


def test_an_inspection_may_run_in_any_thread() -> None:
    session = Session()
    subject = in_thread(lambda: inspected(session))
    assert session.inspection(subject).report.variants[0].stage == "sources"


def test_sources_are_made_while_the_main_thread_builds() -> None:
    session = Session()
    subject = session.inspect(subjects.two, (X,), {"shift": 1}, run=False).subject.id
    threads: list[threading.Thread] = []

    def progress(now: Progress) -> None:
        if now.step == "building" and not threads:
            variant = cs.Variant(options={"size_asserts": False})
            thread = threading.Thread(target=lambda: sourced(session, subject, variant))
            threads.append(thread)
            thread.start()

    report = session.inspect(subjects.plain, (X,), variants="python", progress=progress)
    threads[0].join(600)
    other = session.inspection(subject).report.variant("python size_asserts=False")
    assert other.stage == "sources"
    (compilation,) = other.compilations
    assert compilation.code.python
    assert report.variant("python").stage == "built"
    assert len(report.variant("python").compilations) == 1


@torch.library.custom_op("compilescope_tests::asking", mutates_args=())
def asking(x: torch.Tensor) -> torch.Tensor:
    """An operator whose fake waits, beside the main thread, until somebody has called something."""
    return x.clone()


@asking.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    if threading.current_thread() is not threading.main_thread():
        called = threading.Event()
        ASKED.put(called)
        assert called.wait(600)
    return torch.empty_like(x)


ASKED: queue.Queue[threading.Event] = queue.Queue()


def test_compiled_code_runs_while_another_thread_traces() -> None:
    session = Session()
    compiled = torch.compile(subjects.plain, backend="eager")
    expected = compiled(X)
    subject = session.inspect(asking, (X,), variants="python", run=False).subject.id
    variant = cs.Variant(options={"size_asserts": False})
    thread = threading.Thread(target=lambda: sourced(session, subject, variant))
    thread.start()
    while thread.is_alive():
        try:
            called = ASKED.get(timeout=0.05)
        except queue.Empty:
            continue
        try:
            # torch refuses this while a graph is traced, by a flag of the whole process.
            assert compiled(X).equal(expected)
            assert torch.fx.symbolic_trace(subjects.plain)(X).equal(expected)
        finally:
            called.set()
    assert session.inspection(subject).report.variants[-1].stage == "sources"
    assert torch.fx._symbolic_trace._is_fx_tracing_flag is False


def test_an_observer_that_fails_does_not_reach_the_inspection() -> None:
    session = Session()

    def broken(*_: Any) -> None:
        raise OSError("the line is dead")

    session.observe(broken)
    notices = Notices(session)
    inspected(session)
    assert notices.states[-1] == ("job-1", "done")


def test_a_panel_is_told_of_all_jobs_that_are_yet_to_end() -> None:
    session = Session()
    subject = inspected(session)
    hello = messages.Hello()
    assert commands.hello(session, hello).jobs == []
    built = session.panel_jobs.run(subject)
    measured = session.panel_jobs.measure(subject, (), seconds=1, restart=False)
    aside = [
        session.jobs.in_own_thread(subject, [name], Work(build=False))[0]
        for name in ("cpp", "python")
    ]
    cell = session.jobs.new(subject, ["python"], Work())
    with session.jobs.running(cell):
        jobs = commands.hello(session, hello).jobs
    assert [job.id for job in jobs] == [job.id for job in (cell, built, measured, *aside)]
