"""Which ways to deploy a call are measured, in which order, and what is said of the rest."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace

import compilescope as cs
import pytest
import torch
from compilescope.progress.progress import Cancelled, Monitor, Progress
from compilescope.report import Problem, Report, VariantReport
from compilescope.report.measurements.timings import CompileTime
from compilescope.session.requests import study as request_study
from compilescope.session.session import Session
from compilescope.studies import table
from compilescope.studies.context import StudyContext
from compilescope.studies.deploy import candidates, deploy, ways
from compilescope.studies.deploy import deploy_progress as progress_module
from compilescope.studies.deploy.deploy_progress import DeployProgress
from compilescope.views.rows import deploy as rows
from torch import nn

from ..studying import study

CALL = (torch.randn(2, 8),)
MODEL = nn.Linear(8, 8)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the ways that a study measures: without processes, a second each."""
    names: list[str] = []

    def measure(
        context: StudyContext,
        way: deploy.DeployWay,
        task: bytes,
        deploy_progress: DeployProgress,
    ) -> None:
        names.append(way.name)
        step, fraction = deploy_progress.step(way, "cold")
        context.monitor.step(step, variant=context.report.name, fraction=fraction)
        way.cold_s, way.call_us = 1.0, 10.0

    monkeypatch.setattr(deploy, "_measure", measure)
    return names


def variant_of(**settings: bool) -> VariantReport:
    return VariantReport(name="v", requested=cs.Variant(**settings))


def test_what_is_soon_measured_comes_first_and_what_compiles_cpp_last() -> None:
    def order(**settings: bool) -> list[str]:
        return [way.name for way in candidates.candidates(MODEL, CALL, {}, variant_of(**settings))]

    python = order()
    assert python[:4] == [ways.EAGER, ways.WHOLE, ways.BLOCKS, ways.NESTED]
    assert python[-4:] == ["max-autotune-no-cudagraphs", "max-autotune", "C++ wrapper", ways.AOTI]
    assert order(cpp_wrapper=True)[2] == "Python wrapper"


def test_only_the_selected_ways_are_measured_and_the_others_are_no_failures(
    taken: list[str],
) -> None:
    variant = variant_of()
    selected = {"ways": (ways.AOT, ways.EAGER, "reduce-overhead")}
    study("deploy", MODEL, CALL, variant, options=selected)
    assert taken == [ways.EAGER, ways.AOT]
    assert [way.name for way in variant.ways] == [ways.EAGER, "reduce-overhead", ways.AOT]
    assert variant.ways[1].why == (
        "On a CPU it is the same as the mode 'default', as CUDA graphs need a GPU."
    )
    not_tried = variant.ways_not_tried
    assert ways.WHOLE in not_tried
    assert not {ways.AOT, "max-autotune", ways.BLOCKS} & set(not_tried), "some cannot be tried here"
    assert f"Not tried: {', '.join(not_tried)}." in rows.remarks(variant)
    # Others are measured beside them, in their places.
    study("deploy", MODEL, CALL, variant, options={"ways": (ways.WHOLE,)})
    names = [ways.EAGER, ways.WHOLE, "reduce-overhead", ways.AOT]
    assert [way.name for way in variant.ways] == names
    study("deploy", MODEL, CALL, variant)
    assert variant.ways_not_tried == []
    assert rows.not_tried(variant) == ""


def test_a_cancelled_study_keeps_what_it_measured(taken: list[str]) -> None:
    variant = variant_of()
    monitor = Monitor()

    def cancel() -> None:
        if len(variant.ways) == 2:
            monitor.cancel()

    with pytest.raises(Cancelled):
        study("deploy", MODEL, CALL, variant, monitor, changed=cancel)
    assert [way.name for way in variant.ways if way.cold_s] == [ways.EAGER, ways.WHOLE]
    assert "C++ wrapper" in variant.ways_not_tried
    assert "yet" not in variant.best_way


def test_nothing_is_recommended_while_ways_wait(taken: list[str]) -> None:
    variant = variant_of()
    names = (ways.EAGER, ways.WHOLE, ways.AOT)
    seen: list[tuple[str, list[str]]] = []

    def note() -> None:
        assert len(taken) == len(names) or not any(way.best_for for way in variant.ways)
        seen.append((variant.best_way, variant.ways_not_tried))

    study("deploy", MODEL, CALL, variant, options={"ways": names}, changed=note)
    assert [best for best, _ in seen[:3]] == [
        "0 of 3 ways are measured: no recommendation yet.",
        "1 of 3 ways are measured: no recommendation yet.",
        "2 of 3 ways are measured: no recommendation yet.",
    ]
    assert variant.best_way
    assert "yet" not in variant.best_way
    for _, not_tried in seen:
        assert not set(names) & set(not_tried)
        assert "C++ wrapper" in not_tried


def test_the_steps_count_the_ways(taken: list[str]) -> None:
    seen: list[Progress] = []
    selected = {"ways": (ways.EAGER, ways.WHOLE, "max-autotune")}
    study("deploy", MODEL, CALL, variant_of(), Monitor(seen.append), options=selected)
    assert [progress.step for progress in seen] == [
        "way 1 of 2, eager: first call, then later calls",
        "way 2 of 2, torch.compile: process 1 of 3, nothing cached",
    ]
    assert [progress.fraction for progress in seen] == [0, 0.5]


def test_an_estimate_names_its_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [100.0]
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    report = variant_of()
    report.compile_time = CompileTime(total_s=20.0)
    by_name = {way.name: way for way in candidates.candidates(MODEL, CALL, {}, report)}
    eager, whole, filtered, aot = measured = [
        by_name[name] for name in (ways.EAGER, ways.WHOLE, ways.NO_GUARDS, ways.AOT)
    ]
    deploy_progress = DeployProgress(measured, report)
    assert deploy_progress.step(eager, "cached")[0].endswith(
        "later calls; estimated for all: at least 1 min 00 s"
    )
    eager.took_s, whole.took_s = 3.0, 41.0
    deploy_progress.end(eager)
    assert deploy_progress.step(whole, "cold")[0].endswith(
        "nothing cached; estimated for all: at least 1 min 00 s"
    )
    now_s[0] += 61
    assert deploy_progress.step(whole, "cold")[0].endswith("nothing cached"), (
        "the minute has passed"
    )
    deploy_progress.end(whole)
    step, fraction = deploy_progress.step(filtered, "shipped")
    assert step == (
        "way 3 of 4, no guards: process 2 of 3, as shipped; about 80 s left if each takes 41 s, as "
        "so far"
    )
    now_s[0] += 90
    assert deploy_progress.step(filtered, "cached")[0].endswith("later calls"), "so have the 80 s"
    assert fraction == pytest.approx((2 + 1 / 3) / 4)
    more = DeployProgress([whole, by_name["C++ wrapper"]], variant_of())
    more.end(whole)
    assert more.step(by_name["C++ wrapper"], "cold")[0].endswith(
        "about 40 s left if each takes 41 s, as so far (C++ wrapper may take longer)"
    )
    filtered.took_s, aot.took_s = 30.0, 90.0
    report.ways = measured
    again = DeployProgress([whole, aot], report)
    assert again.step(whole, "cold")[0].endswith("; about 2 min left if as fast as last time")


def test_an_estimate_on_an_executor_follows_the_pace_of_all_ways(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = [100.0]
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    by_name = {way.name: way for way in candidates.candidates(MODEL, CALL, {}, variant_of())}
    names = (ways.EAGER, ways.WHOLE, ways.NO_GUARDS, ways.AOT, "C++ wrapper")
    eager, whole, filtered, aot, cpp = measured = [by_name[name] for name in names]
    deploy_progress = DeployProgress(measured, variant_of())
    assert deploy_progress.several({}) == ("0 of 5 ways measured", 0)
    # Two ways at a time.
    now_s[0] += 10
    eager.took_s = 10.0
    deploy_progress.end(eager)
    step, fraction = deploy_progress.several({ways.WHOLE: "shipped"})
    assert step == "1 of 5 ways measured; torch.compile (process 2 of 3, as shipped)", (
        "eager compiles nothing"
    )
    assert fraction == 1 / 5
    now_s[0] += 20
    whole.took_s = 30.0
    deploy_progress.end(whole)
    running = {ways.NO_GUARDS: "cached", ways.AOT: "cold"}
    # 60 s of measuring took 30 s, and 70 s are left.
    assert deploy_progress.several(running)[0].endswith(
        "aot_compile (process 1 of 3, nothing cached); about 40 s left at the pace so far "
        "(C++ wrapper may take longer)"
    )
    now_s[0] += 15
    assert "about 20 s left" in deploy_progress.several(running)[0]
    now_s[0] += 20
    assert "left" not in deploy_progress.several(running)[0], "they have passed"
    filtered.took_s, filtered.problem = 60.0, Problem(severity="error", what="It failed.")
    deploy_progress.end(filtered)
    # 100 s took 65 s, 60 s are left.
    assert "about 40 s left" in deploy_progress.several({ways.AOT: "cold"})[0]
    for way in (aot, cpp):
        deploy_progress.end(way)
    assert deploy_progress.several({}) == ("5 of 5 ways measured", 1)


def test_only_what_compiles_as_much_as_the_first_call_has_a_lower_bound() -> None:
    def bounds(cold: bool = True, **settings: bool) -> dict[str, float | None]:
        report = variant_of(**settings)
        report.compile_time = CompileTime(total_s=20.0, cold=cold)
        choices = candidates.choices(MODEL, CALL, {}, report)
        assert all(choice.is_least for choice in choices)
        return {choice.name: choice.estimate_s for choice in choices}

    python = bounds()
    assert python[ways.WHOLE] == python["C++ wrapper"] == 20.0
    assert python[ways.EAGER] is python[ways.NESTED] is python["max-autotune"] is None
    assert bounds(cpp_wrapper=True)["Python wrapper"] is None
    assert set(bounds(cold=False).values()) == {None}
    report = variant_of()
    report.ways = [deploy.DeployWay(name=ways.WHOLE, took_s=33.0)]
    whole = candidates.choices(MODEL, CALL, {}, report)[1]
    assert (whole.name, whole.estimate_s, whole.is_least) == (ways.WHOLE, 33.0, False)


@pytest.fixture(scope="module")
def inspected() -> tuple[Session, Report]:
    session = Session()
    variants = {"python": cs.Variant(), "cpp": cs.Variant(cpp_wrapper=True)}
    return session, session.inspect(MODEL, CALL, variants=variants, run=False)


Ask = Callable[[Session, Report], object]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda session, report: request_study(
                session, report, ["deploy"], options={"ways": ["eager", "turbo"]}
            ),
            r"ways: 'turbo' is not a way to deploy this call\. The names are eager, .*Python wrap",
        ),
        (
            lambda session, report: session.panel_jobs.study(
                report.subject.id, ["deploy"], ["python"], {"ways": ["Python wrapper"]}
            ),
            r"'Python wrapper' is not a way to deploy this call\..*AOTInductor\.",
        ),
        (
            lambda session, report: request_study(
                session, report, ["deploy"], options={"ways": ()}
            ),
            r"ways selects nothing\. Give names, or leave ways out: all\.",
        ),
        (
            lambda session, report: request_study(session, report, ["deploy"], options={"ways": 3}),
            "A name in ways is 3",
        ),
        (
            lambda session, report: request_study(
                session, report, ["layers"], options={"ways": "eager"}
            ),
            r"ways is an option of the study deploy, which is not requested\. Name the study, or",
        ),
        (
            lambda session, report: session.panel_jobs.study(
                report.subject.id, ["deploy"], [], {"color": ["blue"]}
            ),
            r"No study has an option 'color'\. The options are ways\.",
        ),
    ],
    ids=["unknown", "of another variant", "none", "no name", "of another study", "no option"],
)
def test_a_wrong_selection_is_an_error_before_anything_runs(
    inspected: tuple[Session, Report], ask: Ask, message: str
) -> None:
    session, report = inspected
    with pytest.raises(cs.CompilescopeError, match=message):
        ask(session, report)
    assert session.jobs.active == []


@pytest.mark.parametrize(
    ("way", "variants"),
    [
        ("Python wrapper", "python"),
        ("max-autotune", {"tuned": cs.Variant(mode="max-autotune")}),
        (ways.REPEATED, "python"),
    ],
)
def test_a_way_that_the_call_does_not_have_is_refused_before_the_inspection(
    way: str, variants: object
) -> None:
    session = Session()
    with pytest.raises(cs.CompilescopeError, match=f"ways: '{way}' is not a way to deploy this"):
        session.inspect(
            MODEL, CALL, variants=variants, studies=["deploy"], study_options={"ways": [way]}
        )
    assert session.inspections == {}
    assert session.jobs.active == []


def test_a_way_of_the_settings_in_the_call_is_not_refused() -> None:
    written = torch.compile(MODEL, dynamic=True)
    variants = {"tuned": cs.Variant(mode="max-autotune")}
    selected = {"ways": ["max-autotune"]}
    report = Session().inspect(
        written, CALL, variants=variants, run=False, studies=["deploy"], study_options=selected
    )
    assert len(report.variants) == 2


def test_a_way_of_one_variant_is_a_problem_of_the_other(
    inspected: tuple[Session, Report], taken: list[str]
) -> None:
    session, report = inspected
    selected = {"ways": "C++ wrapper"}
    request_study(session, report, ["deploy"], variants=["python", "cpp"], options=selected)
    assert taken == ["C++ wrapper"]
    assert [way.name for way in report.variant("python").ways] == ["C++ wrapper"]
    (problem,) = [problem for problem in report.variant("cpp").problems if "deploy" in problem.what]
    assert "'C++ wrapper' is not a way" in problem.why


def test_the_choices_are_those_of_the_variant(inspected: tuple[Session, Report]) -> None:
    session, report = inspected
    choices = session.panel_jobs.choices(report.subject.id, "deploy", "cpp")["ways"]
    assert [choice.name for choice in choices][:3] == [ways.EAGER, ways.WHOLE, "Python wrapper"]
    assert session.panel_jobs.choices(report.subject.id, "layers", "cpp") == {}
    assert {choice.name for choice in choices} < set(candidates.every_name())
    for requested in (cs.Variant(backend=None), cs.Variant(target="h100")):
        other = VariantReport(name="v", requested=requested)
        assert candidates.choices(MODEL, CALL, {}, other) == []


def test_every_option_of_a_study_is_a_parameter() -> None:
    options = [option.name for _, option in table.options_of()]
    assert options == ["ways"]
    assert set(options) <= set(inspect.signature(cs.study).parameters)
    assert "the names of the ways to measure. None: all." in (cs.study.__doc__ or "")
