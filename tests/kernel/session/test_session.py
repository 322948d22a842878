"""The session: jobs one at a time, cancel, observers, and what it keeps and forgets."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.inspection.inspection import Inspection
from compilescope.jobs import kept_subjects as kept
from compilescope.jobs.jobs import Job
from compilescope.progress.progress import Progress
from compilescope.report import IN_CELL, Report
from compilescope.report.errors import CompilescopeError
from compilescope.session import session as sessions
from compilescope.session.session import Session
from compilescope.watching.running_code import watching

from .. import subjects

pytestmark = pytest.mark.slow

X = torch.randn(4, 8)
CPP = cs.Variant(cpp_wrapper=True)
EAGER = cs.Variant(backend="eager")


class Notices:
    """An observer that notes what it is told."""

    def __init__(self, session: Session) -> None:
        self.kinds: list[str] = []
        self.states: list[tuple[str, str]] = []
        self.stop = session.observe(self)

    def __call__(self, kind: str, subject: str, job: Job | None) -> None:
        self.kinds.append(kind)
        if job is not None and (job.id, job.state) not in self.states[-1:]:
            self.states.append((job.id, job.state))


def inspected(session: Session, **options: Any) -> str:
    options = {"run": False, "variants": "python", **options}
    return session.inspect(subjects.plain, (X,), **options).subject.id


def in_thread(work: Callable[[], Any]) -> Any:
    """What ``work`` returned or raised in a thread of its own."""
    found: list[Any] = []

    def body() -> None:
        try:
            found.append(work())
        except Exception as error:  # noqa: BLE001 - handed to the test
            found.append(error)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join(600)
    return found[0]


def test_progress_and_observers_follow_an_inspection() -> None:
    session = Session()
    notices = Notices(session)
    steps: list[Progress] = []
    inspected(session, progress=steps.append)
    assert [step.step for step in steps] == [
        "running the subject under Dynamo",
        "generating code",
        "generating code: graph passes",
        "generating code: lowering and fusing",
        "generating code: reading the wrapper",
    ]
    assert {step.variant for step in steps} == {"python"}
    assert notices.states == [("job-1", "running"), ("job-1", "done")]
    assert notices.kinds[0] == "subjects"
    assert "report" in notices.kinds
    notices.stop()
    notices.stop()
    inspected(session)
    assert len(notices.states) == 2


def test_the_same_call_is_the_same_subject() -> None:
    session = Session()
    first = inspected(session)
    revision = session.revisions[first]
    assert inspected(session) == first
    assert session.revisions[first] > revision
    assert list(session.inspections) == [first]


def test_the_oldest_subjects_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 2)
    session = Session()
    made = [
        session.inspect(subjects.plain, (torch.ones(2, size),), variants="eager", run=False)
        for size in (2, 3, 4)
    ]
    assert list(session.inspections) == [report.subject.id for report in made[1:]]
    assert set(session.revisions) == set(session.inspections)


def test_a_forgotten_subject_says_so() -> None:
    session = Session()
    subject = inspected(session)
    session.forget(subject)
    for ask in (
        lambda: session.inspection(subject),
        lambda: session.sources(subject, CPP),
        lambda: session.queue_run(subject),
    ):
        with pytest.raises(cs.CompilescopeError) as error:
            ask()
        assert str(error.value) == (
            "This subject is not in the kernel any more. It was forgotten, or the kernel was "
            "restarted. Run its cell again."
        )
    session.forget(subject)


def sourced(session: Session, subject: str, variant: cs.Variant) -> tuple[str, Job | None]:
    """What a subshell's thread is answered, once the job has ended that it may name."""
    name, job = in_thread(lambda: session.sources(subject, variant))
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
    assert session.sources(subject, cs.Variant()) == ("python", None)
    dynamic = cs.Variant(dynamic=True)
    name, job = in_thread(lambda: session.sources(subject, dynamic))
    assert job is not None
    assert (name, job.state, job.variants, job.work.build) == (
        "python dynamic",
        "queued",
        ["python dynamic"],
        False,
    )
    assert session.sources(subject, dynamic) == (name, job), "asked again it is not doubled"
    session.run_pending()
    assert job.ended.wait(600)
    assert (job.state, job.aside) == ("done", True)
    assert report.variant(name).requested == dynamic
    assert session.sources(subject, dynamic) == (name, None)


def test_a_kernel_without_subshells_generates_on_its_main_thread() -> None:
    session = Session()
    subject = inspected(session)
    name, job = session.sources(subject, CPP)
    assert job is not None
    assert (job.state, job.aside) == ("queued", False)
    session.run_pending()
    assert session.inspection(subject).report.variant(name).compilations[0].code.cpp


def endless_generation(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Has the generation of code last until it is cancelled; returns the event of its begin."""
    begun = threading.Event()

    def endless(self: Any, name: str, variant: cs.Variant, told: Any, coming: Any) -> Any:
        told("generating code: graph passes")
        begun.set()
        while True:
            time.sleep(0.001)

    monkeypatch.setattr(Inspection, "_sources", endless)
    return begun


def test_slow_code_generation_is_a_job_that_a_cancel_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    notices = Notices(session)
    generate = Inspection._sources
    monkeypatch.setattr(sessions, "PATIENCE_S", 0.0)
    begun = endless_generation(monkeypatch)
    name, job = in_thread(lambda: session.sources(subject, CPP))
    assert job is not None
    assert begun.wait(600)
    assert (job.aside, job.state, job.step, job.variant) == (
        True,
        "running",
        "generating code: graph passes",
        "cpp",
    )
    assert job.elapsed_s > 0
    assert in_thread(lambda: session.sources(subject, CPP)) == (name, job), "it is not doubled"
    session.jobs.cancel(job.id)
    assert job.ended.wait(600)
    assert notices.states == [(job.id, "queued"), (job.id, "running"), (job.id, "cancelled")]
    assert session.jobs.aside == []
    assert [variant.name for variant in session.inspection(subject).report.variants] == ["python"]
    monkeypatch.setattr(Inspection, "_sources", generate)
    _, again = sourced(session, subject, CPP)
    assert again is not job
    assert session.inspection(subject).report.variant("cpp").stage == "sources"


def test_the_main_thread_is_free_once_the_subject_has_been_called(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    notices = Notices(session)
    generate = Inspection._sources

    def ask_again(kind: str, _: str, job: Job | None) -> None:
        if job is not None and job.step == "running the subject under Dynamo":
            again.append(in_thread(lambda: session.sources(subject, dynamic)))

    begun = endless_generation(monkeypatch)
    dynamic = cs.Variant(dynamic=True)
    again: list[Any] = []
    name, job = in_thread(lambda: session.sources(subject, dynamic))
    stop = session.observe(ask_again)
    session.run_pending()
    stop()
    assert session.jobs.current is None
    assert begun.wait(600)
    again.append(in_thread(lambda: session.sources(subject, dynamic)))
    assert {asked[1].id for asked in again} == {job.id}, "it is not doubled, wherever it runs"
    assert (job.aside, job.state, job.step) == (True, "running", "generating code: graph passes")
    session.jobs.cancel(job.id)
    assert job.ended.wait(600)
    assert [state for name, state in notices.states if name == job.id] == [
        "queued",
        "running",
        "cancelled",
    ]
    assert [variant.name for variant in session.inspection(subject).report.variants] == ["python"]
    monkeypatch.setattr(Inspection, "_sources", generate)
    assert sourced(session, subject, dynamic)[0] == name
    assert session.inspection(subject).report.variant(name).compilations[0].code.python


def test_a_fault_of_ours_on_the_main_thread_ends_the_whole_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)

    def fail(self: Any, wanted: Any, monitor: Any) -> None:
        raise LookupError("a fault of ours")

    monkeypatch.setattr(Inspection, "capture", fail)
    _, job = in_thread(lambda: session.sources(subject, cs.Variant(dynamic=True)))
    session.run_pending()
    assert (job.state, job.aside, session.jobs.aside) == ("done", False, [])
    (problem,) = session.inspection(subject).report.problems
    assert problem.what == "compilescope failed: LookupError: a fault of ours"


def test_a_waiting_job_can_be_cancelled() -> None:
    session = Session()
    subject = inspected(session)
    notices = Notices(session)
    _, job = session.sources(subject, cs.Variant(dynamic=True))
    assert job is not None
    session.jobs.cancel(job.id)
    session.jobs.cancel("no such job")
    session.run_pending()
    assert notices.states == [(job.id, "queued"), (job.id, "cancelled")]
    assert [variant.name for variant in session.inspection(subject).report.variants] == ["python"]
    _, again = session.sources(subject, cs.Variant(dynamic=True))
    assert again is not None
    assert again.id != job.id
    session.run_pending()
    assert again.state == "done"


def test_jobs_of_a_forgotten_subject_are_dropped_and_the_others_done() -> None:
    session = Session()
    gone, kept = inspected(session), None
    _, first = session.sources(gone, cs.Variant(dynamic=True))
    kept = session.inspect(subjects.plain, (X[:2],), variants="python", run=False).subject.id
    _, second = session.sources(kept, cs.Variant(dynamic=True))
    session.forget(gone)
    session.run_pending()
    assert first is not None
    assert second is not None
    assert (first.state, second.state) == ("cancelled", "done")


def test_a_variant_that_is_gone_when_its_job_runs_is_left_out() -> None:
    session = Session()
    subject = inspected(session, variants=["python", "cpp"])
    job = session.queue_run(subject, ["cpp"])
    inspected(session)  # the cell ran again, with fewer variants
    session.run_pending()
    assert job.state == "done"


def test_a_fault_of_ours_is_told_and_the_next_job_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    subject = inspected(session)
    capture = Inspection.capture

    def fail(self: Any, wanted: Any, monitor: Any) -> None:
        monkeypatch.setattr(Inspection, "capture", capture)
        raise LookupError("a fault of ours")

    monkeypatch.setattr(Inspection, "capture", fail)
    _, first = session.sources(subject, cs.Variant(dynamic=True))
    _, second = session.sources(subject, cs.Variant(dynamic=True, cpp_wrapper=True))
    session.run_pending()
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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session()
    subject = inspected(session)
    capture = Inspection.capture

    def interrupt(self: Any, wanted: Any, monitor: Any) -> None:
        monkeypatch.setattr(Inspection, "capture", capture)
        raise KeyboardInterrupt

    monkeypatch.setattr(Inspection, "capture", interrupt)
    _, first = session.sources(subject, cs.Variant(dynamic=True))
    _, second = session.sources(subject, cs.Variant(dynamic=True, cpp_wrapper=True))
    session.run_pending()
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
    told: list[Any] = []

    def progress(_: Progress) -> None:
        if not told:
            told.append(in_thread(lambda: inspected(session)))

    report = session.inspect(subjects.plain, (X,), variants="python", run=False, progress=progress)
    assert str(told[0]) == (
        "Another inspection is running in this kernel. A subject is called by one thread at a "
        "time. Wait for it, or cancel it."
    )
    assert isinstance(told[0], cs.CompilescopeError)
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


def test_what_the_cell_itself_compiled_is_part_of_the_report() -> None:
    session = Session()
    with watching() as watched:
        torch.compile(subjects.shout, backend="eager")(torch.randn(3))
        torch._dynamo.reset()
    subject = inspected(session, watched=watched)
    names = [variant.name for variant in session.inspection(subject).report.variants]
    assert names == [IN_CELL, "python"]
    assert session.queue_run(subject).variants == ["python"]
    assert session.inspection(subject).report.variant(IN_CELL).recorded
    with pytest.raises(CompilescopeError, match="cannot be built or timed"):
        session.queue_measure(subject, [IN_CELL, "python"], seconds=1.0, again=False)


def again(scale: float) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: x * scale


def test_a_subject_that_is_made_again_takes_the_place_of_the_earlier_one() -> None:
    session = Session()
    for scale in (2.0, 3.0):
        last = session.inspect(again(scale), (X,), run=False, variants="python")
    assert list(session.inspections) == [last.subject.id]
    other = session.inspect(again(2.0), (X[:2],), run=False, variants="python")
    assert list(session.inspections) == [last.subject.id, other.subject.id]
    for cell in ("a", "b", "b"):
        net = torch.nn.Sequential(torch.nn.Linear(8, 8))
        session.inspect(net, (X,), run=False, variants="python", cell=cell)
    cells = [inspection.report.subject.cell for inspection in session.inspections.values()]
    assert cells == [None, None, "a", "b"]


def test_building_takes_up_what_was_asked_for_and_never_came() -> None:
    session = Session()
    subject = inspected(session)
    session.inspection(subject).report.variants.clear()
    job = session.queue_run(subject)
    assert job.variants == ["python"]
    session.run_pending()
    stages = {
        variant.name: variant.stage for variant in session.inspection(subject).report.variants
    }
    assert stages == {"python": "built", "eager": "built"}


def in_cell(session: Session, cell: str, **options: Any) -> Report:
    options = {"run": False, "variants": {"quick": EAGER}, **options}
    return session.inspect(subjects.plain, options.pop("args", (X,)), cell=cell, **options)


def test_the_same_call_in_a_cell_adds_to_its_report() -> None:
    session = Session()
    first = in_cell(session, "a", run=True)
    measured = first.variant("quick").timing
    assert measured is not None
    whole = {"whole": msgspec.structs.replace(EAGER, fullgraph=True)}
    report = in_cell(session, "a", variants=whole)
    assert [variant.name for variant in report.variants] == ["quick", "eager", "whole"]
    assert report.variant("quick").timing == measured
    assert [variant.earlier for variant in report.variants] == [True, True, False]
    assert not first.variant("quick").earlier
    again = in_cell(session, "b", variants=whole, run=True)
    stages = {variant.name: (variant.stage, variant.earlier) for variant in again.variants}
    assert stages == {
        "quick": ("built", True),
        "eager": ("built", False),
        "whole": ("built", False),
    }
    assert list(session.inspections) == [again.subject.id]
    assert list(session.inspection(again.subject.id).asked) == ["whole"]
    other = in_cell(session, "b", args=(X[:2],), variants=whole)
    assert [variant.name for variant in other.variants] == ["whole"], "other sizes, another call"
    session.forget(again.subject.id)
    assert [variant.name for variant in in_cell(session, "a", variants=whole).variants] == ["whole"]


def test_what_is_inspected_anew_stands_where_it_stood() -> None:
    session = Session()
    whole = {"whole": msgspec.structs.replace(EAGER, fullgraph=True)}
    in_cell(session, "a")
    in_cell(session, "a", variants=whole)
    report = in_cell(session, "a")
    assert [(variant.name, variant.earlier) for variant in report.variants] == [
        ("quick", False),
        ("whole", True),
    ]


def test_a_call_that_was_edited_or_set_otherwise_begins_anew() -> None:
    session = Session()
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout())

    def run(mode: bool, cell: str = "a", grad: bool = True) -> list[str]:
        variant = msgspec.structs.replace(EAGER, fullgraph=not grad or not mode)
        with torch.set_grad_enabled(grad):
            report = session.inspect(net.train(mode), (X,), cell=cell, variants=variant, run=False)
        return [variant.name for variant in report.variants]

    assert run(True) == ["backend=eager"]
    assert run(False) == ["backend=eager fullgraph"], "out of training"
    assert run(False, grad=False) == ["backend=eager fullgraph"]
    for power in (2, 3):
        space: dict[str, Any] = {"__name__": "notebook"}
        exec(f"def f(x):\n    return x ** {power}\n", space)
        whole = msgspec.structs.replace(EAGER, fullgraph=power == 3)
        report = session.inspect(space["f"], (X,), cell="c", variants=whole, run=False)
    assert [variant.name for variant in report.variants] == ["backend=eager fullgraph"]


@pytest.mark.parametrize("seconds", [1e308, -1e308, 0.0, float("nan"), float("inf")])
def test_a_measurement_of_an_absurd_time_is_refused(seconds: float) -> None:
    session = Session()
    report = session.inspect(torch.relu, (torch.ones(2),), variants="eager", run=False)
    with pytest.raises(CompilescopeError, match="A measurement cannot take"):
        session.measure(report.subject.id, {}, seconds=seconds)
    with pytest.raises(CompilescopeError, match="A measurement cannot take"):
        session.queue_measure(report.subject.id, [], seconds=seconds, again=False)
    assert session.jobs.next() is None
