"""Where the time of a call goes is measured by itself where that takes seconds."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterator

import compilescope as cs
import pytest
import torch
from compilescope.analysis.overview.overview import overview
from compilescope.inspection import automatic_layers
from compilescope.inspection.automatic_layers import Breakdown, plan_breakdown
from compilescope.report import Report
from compilescope.session.requests import measure_and_study
from compilescope.session.session import Session, get_session
from torch._inductor import compile_fx

from .. import subjects

pytestmark = pytest.mark.slow

X = torch.randn(4, 8)


@pytest.fixture(scope="module", autouse=True)
def same_graph_number() -> Iterator[None]:
    """torch writes a graph's number into the C++ that it profiles: each would be compiled anew."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compile_fx, "_graph_counter", itertools.repeat(0))
        yield


@pytest.fixture(scope="module")
def report() -> Report:
    """Of a call that was built from the panel, however long a busy machine took for it."""
    session = Session()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(automatic_layers, "AFFORDABLE_S", math.inf)
        report = session.inspect(subjects.plain, (X,), variants="python", run=False)
        session.panel_jobs.run(report.subject.id)
        session.panel_jobs.run_pending()
    return report


def test_a_build_from_the_panel_says_what_limits_the_call(report: Report) -> None:
    assert report.variant("python").layers
    limit = overview(report).limit
    assert limit is not None
    assert limit.basis == "measured" or limit.headline == "Too noisy to judge."


def test_a_cell_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic_layers, "AFFORDABLE_S", math.inf)
    session = Session()
    # An argument that was computed from another tensor: `plain(x.sin())`.
    outer = torch.randn(4, 8, requires_grad=True)
    computed = outer.sin()
    report = session.inspect(subjects.plain, (computed,), variants="python")
    variant = report.variant("python")
    assert not variant.layers
    measure_and_study(session, report, None, ())
    assert [layers.direction for layers in variant.layers] == ["forward", "backward"]
    assert {error.path for error in variant.accuracy} == {"output", "args[0].grad"}
    assert variant.problems == []
    # The backward ended at the argument: the graph that computed it is the user's, and whole.
    assert outer.grad is None
    computed.sum().backward()
    monkeypatch.setattr(get_session(), "is_shown", lambda: True)
    assert cs.inspect(subjects.plain, (X,), variants="python").variant("python").layers


def test_what_takes_long_waits_to_be_asked_for(report: Report) -> None:
    slow = copy.deepcopy(report)
    variant = slow.variant("python")
    variant.layers, variant.verdict = [], None
    changed: list[str] = []
    assert plan_breakdown(slow, ["cpp"], changed.append) is None
    assert variant.compile_time is not None
    assert variant.timing is not None
    variant.timing.median_us = 1000.0
    variant.compile_time.total_s = 5.0
    assert plan_breakdown(slow, ["python"], changed.append) == Breakdown("python", existing=False)
    # What takes long to build is broken down as it is.
    variant.compile_time.total_s = 57.0
    assert plan_breakdown(slow, ["python"], changed.append) == Breakdown("python", existing=True)
    assert changed == []
    variant.requested = cs.Variant(cpp_wrapper=True)
    assert plan_breakdown(slow, ["python"], changed.append) == Breakdown("python", existing=True)
    variant.timing.median_us = 2e6
    assert plan_breakdown(slow, ["python"], changed.append) == Breakdown("python", existing=True)
    assert changed == []
    # What takes longer to call is not.
    variant.timing.median_us = 3e6
    assert plan_breakdown(slow, ["python"], changed.append) is None
    assert changed == ["python"]
    limit = overview(slow).limit
    assert limit is not None
    assert limit.headline == "Not measured yet."
    assert limit.text.startswith("Breaking down the time takes about 444 s: ")


def test_what_takes_long_to_build_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    report = session.inspect(subjects.plain, (X,), variants="python")
    variant = report.variant("python")
    assert variant.compile_time is not None
    variant.compile_time.total_s = 57.0
    monkeypatch.setattr("compilescope.studies.layers.layers.build_for", None)
    measure_and_study(session, report, None, ())
    assert variant.problems == []
    (layers,) = variant.layers
    assert {"guards", "wrapper", "kernels"} <= {layer.kind for layer in layers.layers}
    assert {layer.compilation for layer in layers.layers} - {""} == {"0/0"}
    (kernels,) = (layer for layer in layers.layers if layer.kind == "kernels")
    assert "the launching included" in kernels.how
    # The build is still the one that was timed.
    timing = variant.timing
    session.measure(report.subject.id, {"python": variant.requested}, seconds=0.05)
    assert variant.timing is not timing
    assert [compilation.id for compilation in variant.compilations] == ["0/0"]


@pytest.mark.parametrize("name", ["python", "cpp"])
def test_a_call_that_takes_long_is_broken_down_in_a_few_calls(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[None] = []

    @torch.library.custom_op(f"breakdown::counted_{name}", mutates_args=())
    def counted(x: torch.Tensor) -> torch.Tensor:
        calls.append(None)
        return x.clone()

    counted.register_fake(torch.empty_like)
    session = Session()
    report = session.inspect(lambda x: counted(x).sin(), (torch.randn(4, 8),), variants=name)
    variant = report.variant(name)
    assert variant.compile_time is not None
    assert variant.timing is not None
    # As if it were a large model: the time of its build and of a call.
    variant.compile_time.total_s = 57.0
    variant.timing.median_us = 2e6
    monkeypatch.setattr("compilescope.studies.layers.layers.build_for", None)
    monkeypatch.setattr("compilescope.studies.layers.layers.SECONDS", 0.0)
    calls.clear()
    measure_and_study(session, report, None, ())
    assert len(calls) <= automatic_layers._CALLS
    assert variant.problems == []
    (layers,) = variant.layers
    times = {layer.kind: layer.us for layer in layers.layers}
    assert times["compiled"] > 0
    assert "guards" in times
    assert not {"wrapper", "launches", "kernels"} & times.keys()


def test_a_cpp_wrapper_alone_says_what_limits_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session()
    report = session.inspect(subjects.plain, (X,), variants="cpp")
    variant = report.variant("cpp")
    assert variant.compile_time is not None
    variant.compile_time.total_s = 57.0
    monkeypatch.setattr("compilescope.studies.layers.layers.build_for", None)
    measure_and_study(session, report, None, ())
    limit = overview(report).limit
    assert limit is not None
    assert limit.basis == "measured" or limit.headline == "Too noisy to judge."
    kinds = {layer.kind for layers in variant.layers for layer in layers.layers}
    assert {"guards", "compiled"} <= kinds
    assert "kernels" not in kinds


def test_measuring_alone_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(automatic_layers, "AFFORDABLE_S", math.inf)
    session = Session()
    report = session.inspect(subjects.plain, (X,), variants="python", run=False)
    session.panel_jobs.measure(report.subject.id, [], seconds=0.05, restart=False)
    session.panel_jobs.run_pending()
    variant = report.variant("python")
    (layers,) = variant.layers
    # Measuring for longer breaks down nothing anew where the calls took as long.
    for matches in (True, False):
        monkeypatch.setattr(automatic_layers, "matches_timing", lambda _, matches=matches: matches)
        session.panel_jobs.measure(report.subject.id, [], seconds=0.05, restart=False)
        session.panel_jobs.run_pending()
        assert (variant.layers == [layers]) == matches


def test_calls_that_end_in_eager_are_not_broken_down(report: Report) -> None:
    ending = copy.deepcopy(report)
    variant = ending.variant("python")
    variant.layers, variant.verdict = [], None
    assert variant.timing is not None
    variant.timing.recompiles = "self.calls"
    changed: list[str] = []
    assert plan_breakdown(ending, ["python"], changed.append) is None
    assert changed == ["python"]
    assert variant.absent["layers"].startswith("Every call recompiles")
