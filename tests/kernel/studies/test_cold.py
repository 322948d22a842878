"""What settings change in a first call: which there are, what their figures say, a real study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.analysis.phases.cold import add_words, compare
from compilescope.inspection.inspection import Inspection
from compilescope.report import ColdSwitch, Report, VariantReport
from compilescope.report.measurements.timings import AS_IT_IS, ONCE_MORE
from compilescope.report.problem import Problem
from compilescope.session import requests
from compilescope.session.session import Session
from compilescope.studies.first_calls import cold
from compilescope.torch_api.inductor.first_call_settings import Switch, switches
from compilescope.views.html import report as html
from compilescope.views.text import report as text

from .. import subjects, views_report

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_compiler")]


def names(variant: cs.Variant, device: str, *, measured: bool) -> set[str]:
    return {
        switch.names for switch in switches(variant, device) if bool(switch.why) is not measured
    }


def test_settings_that_can_change_nothing_say_why() -> None:
    plain, cpp = cs.Variant(), cs.Variant(cpp_wrapper=True)
    of_cpp = "cpp_wrapper_build_separate"
    unoptimized = f"{of_cpp}, aot_inductor.compile_wrapper_opt_level"
    of_gpu = "triton.autotune_at_compile_time"
    both = {"fx_graph_cache", "enable_autograd_cache"}
    assert names(plain, "cpu", measured=True) >= both | {"cpp_cache_precompile_headers"}
    assert names(plain, "cpu", measured=False) >= {of_cpp, unoptimized, of_gpu}
    assert names(cpp, "cpu", measured=True) >= both | {of_cpp, unoptimized, "cpp.vec_isa_ok"}
    assert names(cpp, "cuda:0", measured=True) >= both | {of_cpp, of_gpu, "cpp.vec_isa_ok"}
    assert "cpp.vec_isa_ok" in names(plain, "cuda:0", measured=False)
    assert "cpp_cache_precompile_headers" in names(plain, "cuda:0", measured=False)
    with torch._inductor.config.patch(compile_threads=1):
        assert "compile_threads" in names(plain, "cpu", measured=False)
    with torch._inductor.config.patch(compile_threads=4):
        assert "compile_threads" in names(plain, "cpu", measured=True)


def test_each_is_set_the_other_way_than_it_is() -> None:
    def value(variant: cs.Variant) -> str:
        result = switches(variant, "cpu")
        return next(setting.values for setting in result if setting.names == "fx_graph_cache")

    assert value(cs.Variant()) == "False"
    assert value(cs.Variant(options={"fx_graph_cache": False})) == "True"
    match = next(
        switch
        for switch in switches(cs.Variant(cpp_wrapper=True), "cpu")
        if "opt_l" in switch.names
    )
    assert match.code == (
        "torch._inductor.config.cpp_wrapper_build_separate = True\n"
        "torch._inductor.config.aot_inductor.compile_wrapper_opt_level = 'O0'"
    )


def test_what_two_processes_of_one_kind_differ_by_is_chance() -> None:
    rows = [
        ColdSwitch(switch=AS_IT_IS, cold_s=10.0, warm_s=1.0, call_us=50.0),
        ColdSwitch(switch="quicker", cold_s=8.5, warm_s=1.4, call_us=50.5),
        ColdSwitch(switch="failed"),
        ColdSwitch(switch=AS_IT_IS, value=ONCE_MORE, cold_s=11.0, warm_s=1.0, call_us=50.0),
    ]
    compare(rows)
    quicker = rows[1]
    assert quicker.cold_more_s == -2.0
    assert quicker.warm_more_s == pytest.approx(0.4)
    assert quicker.call_more_us == 0.0, "one in a hundred is no difference"
    assert rows[0].cold_more_s is rows[2].cold_more_s is None
    # On a busy machine a median alone says nothing.
    quicker.call_us = 900.0
    compare(rows)
    assert quicker.call_more_us is None
    rows[0].call_interval_us = rows[3].call_interval_us = (49.0, 51.0)
    quicker.call_interval_us = (48.0, 2000.0)
    compare(rows)
    assert quicker.call_more_us == 0.0
    quicker.call_interval_us = (870.0, 2000.0)
    compare(rows)
    assert quicker.call_more_us == 850.0


def test_settings_have_names_and_the_largest_gains_are_said() -> None:
    report = VariantReport(name="cpp", requested=cs.Variant(cpp_wrapper=True))
    report.cold = [
        ColdSwitch(switch=AS_IT_IS, cold_s=20.0, warm_s=2.0),
        ColdSwitch(switch="precompiled headers kept", cold_s=8.0, cold_more_s=-12.0),
        ColdSwitch(
            switch="a.separate, b.opt_level",
            value="True, O0",
            cold_s=14.0,
            warm_s=1.5,
            cold_more_s=-6.0,
            warm_more_s=-0.5,
        ),
        ColdSwitch(switch=AS_IT_IS, value=ONCE_MORE),
    ]
    add_words(report)
    assert [row.label for row in report.cold] == [
        "current settings",
        "precompiled headers kept",
        "a.separate = True, b.opt_level = O0",
        "current settings, again",
    ]
    assert report.cold_gain == (
        "Largest gain: with cold caches precompiled headers kept (8.00 s, 12.0 s less); "
        "with warm caches a.separate = True, b.opt_level = O0 (1.50 s, 500 ms less)."
    )
    report.cold = report.cold[:1]
    add_words(report)
    assert report.cold_gain == ""


def studied_report() -> Report:
    report = views_report.report()
    report.variants[0].cold = [
        ColdSwitch(switch=AS_IT_IS, cold_s=10.0, warm_s=1.0, call_us=50.0, how="One call each."),
        ColdSwitch(switch="fx_graph_cache", value="False", cold_s=7.0, warm_s=6.0, call_us=50.0),
        ColdSwitch(switch="compile_threads", value="1", why="It is 1 already."),
    ]
    compare(report.variants[0].cold)
    add_words(report.variants[0])
    return report


def test_static_views_show_it() -> None:
    report = studied_report()
    shown = text.render(report)
    assert "with cold caches fx_graph_cache = False (7.00 s, 3.00 s less)" in shown
    assert "\N{MINUS SIGN}3.00 s" in shown
    assert "compile_threads = 1: It is 1 already." in shown
    page = html.render(report, full=True)
    assert "fx_graph_cache = False" in page
    assert "+5.00 s" in page


@pytest.fixture(scope="module")
def studied() -> Iterator[tuple[VariantReport, list[str]]]:
    """A real study of the Python wrapper under one setting; the last row's processes are not."""
    known = [
        Switch(
            {"torch._inductor.config": {"fx_graph_cache": False}, "torch._functorch.config": {}},
            "the graph's cache",
        ),
        Switch({}, "nothing", why="It changes nothing here."),
    ]
    steps: list[str] = []
    given: list[bytes | Problem] = []

    def first_call(*args: Any, **more: Any) -> bytes | Problem:
        given.append(given[len(given) - 4] if len(given) >= 4 else real(*args, **more))
        return given[-1]

    real = cold.first_call
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cold, "switches", lambda variant, device: known)
        patch.setattr(cold, "first_call", first_call)
        session = Session()
        # Nothing is built from C++: what is measured is torch, and no compiler.
        variants = {"mine": cs.Variant(options={"cpp_cache_precompile_headers": False})}
        loaded_report = session.inspect(library, (torch.randn(8, 8),), variants=variants, run=False)
        inspection = session.inspection(loaded_report.subject.id)
        assert isinstance(inspection, Inspection)
        report = requests.study(
            session, inspection.report, ["cold"], progress=lambda now: steps.append(now.step)
        )
        yield report.variant("mine"), steps


def library(x: torch.Tensor) -> torch.Tensor:
    return torch.mm(x, x)


def test_each_setting_is_tried_in_processes_of_its_own(
    studied: tuple[VariantReport, list[str]],
) -> None:
    variant, steps = studied
    assert not variant.problems
    first, cache, nothing, last = variant.cold
    assert (first.switch, first.value, last.value) == (AS_IT_IS, "", ONCE_MORE)
    for row in (first, cache, last):
        assert row.problem is None
        assert row.cold_s is not None
        assert row.warm_s is not None
        assert row.call_us is not None
        assert sum(row.cold_parts.values()) == pytest.approx(row.cold_s, rel=0.01)
    assert nothing.cold_s is None
    assert nothing.why == "It changes nothing here."
    assert cache.cold_more_s is not None
    # The setting was in force: what torch generated is made again, and is not else.
    assert cache.warm_parts["code_generation"] > 0
    assert "code_generation" not in first.warm_parts
    results = [step.partition(": ")[2] for step in steps if step.endswith((", cold", ", warm"))]
    assert results == [
        f"{what}, {caches}"
        for what in (AS_IT_IS, "fx_graph_cache False", f"{AS_IT_IS} {ONCE_MORE}")
        for caches in ("cold", "warm")
    ]
    assert variant.studied == ["cold"]


def test_it_is_made_only_when_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    texts: list[str] = []
    monkeypatch.setattr(
        session, "study", lambda subject, studies, *rest, **more: texts.extend(studies)
    )
    variants = {"quick": cs.Variant(backend="eager")}
    report = session.inspect(subjects.plain, (torch.randn(4, 8),), variants=variants, run=False)
    inspection = session.inspection(report.subject.id)
    assert isinstance(inspection, Inspection)
    requests.study(session, inspection.report, [])
    assert "startups" in texts
    assert "cold" not in texts


def test_another_backend_has_no_such_settings() -> None:
    session = Session()
    variants = {"quick": cs.Variant(backend="eager")}
    loaded_report = session.inspect(
        subjects.plain, (torch.randn(4, 8),), variants=variants, run=False
    )
    inspection = session.inspection(loaded_report.subject.id)
    assert isinstance(inspection, Inspection)
    report = requests.study(session, inspection.report, ["cold"])
    (problem,) = report.variant("quick").problems
    assert "The settings require the backend 'inductor'" in problem.why
