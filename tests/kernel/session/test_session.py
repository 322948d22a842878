"""What a session keeps of the calls that it inspects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import compilescope as cs
import msgspec
import pytest
import torch
from compilescope.distributed.remote_report import RemoteSubject
from compilescope.inspection.variants import name_in
from compilescope.progress.progress import Progress
from compilescope.report import IN_CELL, Rank, Report
from compilescope.report.errors import CompilescopeError
from compilescope.session import requests
from compilescope.session import subjects as session_subjects
from compilescope.session.session import Session
from compilescope.watching.running_code import watching

from .. import subjects
from .session_support import CPP, EAGER, Notices, X, inspected

pytestmark = pytest.mark.slow


def test_progress_and_observers_follow_an_inspection() -> None:
    session = Session()
    notices = Notices(session)
    steps: list[Progress] = []
    inspected(session, progress=steps.append)
    assert [step.step for step in steps] == [
        "Dynamo is tracing the call",
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


def test_a_variant_gets_no_name_that_another_one_has() -> None:
    session = Session()
    subject = inspected(session, variants={"cpp": EAGER})
    inspection = session.inspections[subject]
    assert name_in(inspection.report, EAGER) == "cpp"
    assert name_in(inspection.report, CPP) == "cpp 2"
    assert name_in(inspection.report, cs.Variant()) == "python"


def test_the_oldest_subjects_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_subjects, "MAX_SUBJECTS", 2)
    session = Session()
    results = [
        session.inspect(subjects.plain, (torch.ones(2, size),), variants="eager", run=False)
        for size in (2, 3, 4)
    ]
    assert list(session.inspections) == [report.subject.id for report in results[1:]]
    assert set(session.revisions) == set(session.inspections)


def test_every_rank_of_a_run_is_kept() -> None:
    session = Session()
    inspected(session)
    (mine,) = session.inspections.values()
    for number in (1, 0):
        report = Report(
            subject=msgspec.structs.replace(mine.report.subject, id=f"rank {number}"),
            rank=Rank(rank=number, size=2, group="run"),
        )
        session._subjects.add(RemoteSubject(report, f"rank {number} of 2"))
    assert list(session.inspections) == [mine.report.subject.id, "rank 1", "rank 0"]
    again = msgspec.structs.replace(report, rank=Rank(rank=0, size=2, group="next run"))
    again.subject = msgspec.structs.replace(report.subject, id="rank 0 again")
    session._subjects.add(RemoteSubject(again, "rank 0 of 2"))
    assert list(session.inspections) == [mine.report.subject.id, "rank 0 again"]


def test_a_watch_that_was_evicted_is_there_again_once_it_is_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_subjects, "MAX_SUBJECTS", 1)
    session = Session()
    watch = session.watcher.on()
    session.watcher.off()
    inspected(session)
    assert watch.report.subject.id not in session.inspections
    assert session.watcher.on() is watch
    assert session.inspections[watch.report.subject.id] is watch
    session.watcher.off()


def test_a_forgotten_subject_says_so() -> None:
    session = Session()
    subject = inspected(session)
    session.forget(subject)
    for ask in (
        lambda: session.inspection(subject),
        lambda: session.panel_jobs.sources(subject, CPP),
        lambda: session.panel_jobs.run(subject),
    ):
        with pytest.raises(cs.CompilescopeError) as error:
            ask()
        assert str(error.value) == (
            "This subject is no longer in the kernel. It was forgotten, or the kernel was "
            "restarted. Run its cell again."
        )
    session.forget(subject)


def test_what_the_cell_itself_compiled_is_part_of_the_report() -> None:
    session = Session()
    with watching() as watched:
        torch.compile(subjects.shout, backend="eager")(torch.randn(3))
        torch._dynamo.reset()
    subject = inspected(session, watched=watched)
    names = [variant.name for variant in session.inspection(subject).report.variants]
    assert names == [IN_CELL, "python"]
    assert session.panel_jobs.run(subject).variants == ["python"]
    assert session.inspection(subject).report.variant(IN_CELL).recorded
    with pytest.raises(CompilescopeError, match="cannot be built or timed"):
        session.panel_jobs.measure(subject, [IN_CELL, "python"], seconds=1.0, restart=False)
    report = session.inspection(subject).report
    with pytest.raises(CompilescopeError, match="cannot be built or timed"):
        requests.measure(session, report, variants=[IN_CELL, "python"], seconds=1.0)


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
    job = session.panel_jobs.run(subject)
    assert job.variants == ["python"]
    session.panel_jobs.run_pending()
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
    assert list(session.inspection(again.subject.id).requested) == ["whole"]
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
        session.panel_jobs.measure(report.subject.id, [], seconds=seconds, restart=False)
    assert session.jobs.next() is None
