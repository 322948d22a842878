"""Closer looks at variants: made one after the other, and each by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.figures.payback import paybacks
from compilescope.inspection.automatic_layers import BREAKDOWN
from compilescope.inspection.inspection import Inspection
from compilescope.notebook.options import usage
from compilescope.report import CompileTime, Layer, Layers, Peaks, Startup, Timing, VariantReport
from compilescope.report.variant import Variant
from compilescope.session import requests
from compilescope.session.session import Session
from compilescope.studies import table
from compilescope.studies.context import StudyContext

from .. import subjects
from ..isolation.test_isolation import Mine

pytestmark = pytest.mark.slow

VARIANTS = {"quick": cs.Variant(backend="eager"), "aot": cs.Variant(backend="aot_eager")}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[StudyContext], None]]:
    """The studies that there are, as a test wants them."""
    by_name: dict[str, Callable[[StudyContext], None]] = {}
    for name, record in table.STUDIES.items():
        if not record.for_targets:
            run = lambda study, name=name: by_name[name](study)  # noqa: E731
            faked = record._replace(run=run, without_inductor=None)
            monkeypatch.setitem(table.STUDIES, name, faked)
    return by_name


def inspected(fn: Callable[..., Any], *args: Any) -> tuple[Session, Inspection]:
    session = Session()
    subject = session.inspect(fn, args, variants=VARIANTS, run=False).subject.id
    inspection = session.inspection(subject)
    assert isinstance(inspection, Inspection)
    return session, inspection


def test_a_study_is_given_what_is_built_and_leaves_everything_as_it_was(
    runs: dict[str, Callable[[StudyContext], None]],
) -> None:
    mine = Mine()
    seen: list[tuple[str, str]] = []

    def layers(study: StudyContext) -> None:
        assert study.report.stage == "built"
        study.monitor.step("calling", fraction=0.5)
        code_set = study.code_copies.copy()
        study.code_copies.install(code_set)
        compiled = torch.compile(study.fn, backend="eager")
        compiled(*study.args, **study.kwargs)
        study.report.layers = [Layers(layers=[Layer(kind="kernels", us=2.0)])]
        study.peaks.append(Peaks(device="cpu"))
        seen.append((study.report.name, "layers"))

    runs["layers"] = layers
    runs["kernels"] = lambda study: seen.append((study.report.name, "kernels"))
    session, inspection = inspected(mine.step, mine.x, mine.y)
    steps: list[tuple[str, float | None]] = []
    with mine.untouched():
        report = requests.study(
            session,
            inspection.report,
            ["layers", "kernels"],
            progress=lambda now: steps.append((now.step, now.fraction)),
        )
    assert seen == [(name, look) for look in ("layers", "kernels") for name in VARIANTS]
    for name in VARIANTS:
        assert report.variant(name).stage == "built", "it was built for this"
        assert report.variant(name).studied == ["layers", "kernels"]
        assert report.variant(name).layers
    assert len(report.peaks) == 2
    assert ("time by layer: calling", 0.125) in steps
    fractions = [fraction for step, fraction in steps if step.startswith("time ")]
    assert fractions == sorted(fractions, key=lambda item: item or 0.0)


def test_one_that_fails_is_a_problem_and_the_others_go_on(
    runs: dict[str, Callable[[StudyContext], None]],
) -> None:
    failing = [True]

    def layers(study: StudyContext) -> None:
        if study.report.name == "quick" and failing:
            raise RuntimeError("no clock")

    runs.update(layers=layers, accuracy=lambda study: None)
    session, inspection = inspected(subjects.plain, torch.randn(4, 8))
    report = inspection.report
    subject = report.subject.id
    job = session.panel_jobs.study(subject, ["layers", "accuracy"], [])
    session.panel_jobs.run_pending()
    assert (job.state, job.work.kind) == ("done", "study")
    quick, aot = report.variant("quick"), report.variant("aot")
    (problem,) = quick.problems
    assert problem.what == "The study of layers failed."
    assert "no clock" in problem.why
    assert "went well at first" in problem.why
    assert (quick.studied, aot.studied) == (["accuracy"], ["layers", "accuracy"])
    # Made again, it takes its problem back.
    failing.clear()
    session.study(subject, ["layers"], {"quick": VARIANTS["quick"]})
    assert quick.problems == []
    assert quick.studied == ["accuracy", "layers"]


def test_a_study_can_be_cancelled(runs: dict[str, Callable[[StudyContext], None]]) -> None:
    def layers(study: StudyContext) -> None:
        current = session.jobs.current
        assert current is not None
        session.jobs.cancel(current.id)
        study.monitor.step("calling")
        raise AssertionError("canceled before")

    runs["layers"] = layers
    session, inspection = inspected(subjects.plain, torch.randn(4, 8))
    job = session.panel_jobs.study(inspection.report.subject.id, ["layers"], ["quick"])
    session.panel_jobs.run_pending()
    assert job.state == "cancelled"
    assert inspection.report.variant("quick").studied == []
    assert inspection.report.variant("quick").problems == []


def test_what_is_no_study_is_refused() -> None:
    session, inspection = inspected(subjects.plain, torch.randn(4, 8))
    for ask in (
        lambda: session.panel_jobs.study(inspection.report.subject.id, ["horoscope"], []),
        lambda: requests.study(session, inspection.report, ["horoscope"]),
    ):
        with pytest.raises(cs.CompilescopeError, match="There is no study 'horoscope'"):
            ask()


def test_a_record_holds_all_that_names_a_study() -> None:
    for record in table.STUDIES.values():
        assert (record.run is None) != (record.run_for_target is None)
        assert f"- ``{record.name}``" in (cs.study.__doc__ or "")
        assert record.name in usage()
    assert set(BREAKDOWN) <= set(table.STUDIES)
    assert "cold" not in table.usual(targets=[False])
    assert table.usual(targets=[True]) == table.names(target=True) == ["assembly", "check"]


def timed(ratio: float | None, differs: bool | None = True) -> VariantReport:
    timing = Timing(median_us=50.0, interval_us=(49.0, 51.0), ratio=ratio, differs=differs)
    return VariantReport(
        name="cpp",
        requested=Variant(cpp_wrapper=True),
        timing=timing,
        compile_time=CompileTime(total_s=10.0),
        warm_compile_time=CompileTime(total_s=0.5, cold=False),
    )


def test_after_how_many_calls_a_variant_has_paid() -> None:
    cold, warm = paybacks(timed(3.0))
    assert (cold.cache, cold.compile_s, cold.saved_us) == ("cold", 10.0, 100.0)
    assert (cold.calls, warm.calls) == (100_000, 5_000)
    assert cold.text == (
        "pays for itself with cold caches (10.0 s) after about 100,000 calls, saving 100 µs each"
    )
    assert [payback.text for payback in paybacks(timed(0.5))] == [
        "never pays for itself: it saves nothing per call",
        "",
    ]
    assert [payback.calls for payback in paybacks(timed(0.5))] == [None, None]
    assert paybacks(timed(0.5))[0].saved_us == -25.0
    assert [payback.calls for payback in paybacks(timed(1.1, differs=False))] == [None, None]
    assert paybacks(timed(None)) == []
    noisy = timed(1.9, differs=False)
    assert noisy.timing is not None
    noisy.timing.ratio_interval = (0.6, 4.0)
    assert paybacks(noisy) == paybacks(timed(1.9, differs=None)) == []
    # A process of its own tells more than this one's first call.
    alone = timed(3.0)
    alone.startups = [
        Startup(cache="cold", precompiled_headers=False, first_call_s=40.0),
        Startup(cache="cold", first_call_s=20.0),
    ]
    assert [payback.compile_s for payback in paybacks(alone)] == [20.0, 0.5]
