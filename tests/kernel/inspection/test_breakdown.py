"""Where the time of a call goes is measured by itself where that takes seconds."""

from __future__ import annotations

import copy
import math

import compilescope as cs
import pytest
import torch
from compilescope.analysis.overview.overview import overview
from compilescope.inspection import layers_unasked
from compilescope.inspection.layers_unasked import variant_to_break_down
from compilescope.report import Report
from compilescope.session.requests import measure_and_study
from compilescope.session.session import Session, get_session

from .. import subjects

pytestmark = pytest.mark.slow

X = torch.randn(4, 8)


@pytest.fixture(scope="module")
def report() -> Report:
    """Of a call that was built from the panel, however long a busy machine took for it."""
    session = Session()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers_unasked, "AFFORDABLE_S", math.inf)
        report = session.inspect(subjects.plain, (X,), variants="python", run=False)
        session.queue_run(report.subject.id)
        session.run_pending()
    return report


def test_a_build_from_the_panel_says_what_limits_the_call(report: Report) -> None:
    assert report.variant("python").layers
    limit = overview(report).limit
    assert limit is not None
    assert limit.basis == "measured" or limit.headline == "Too noisy to judge."


def test_a_cell_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers_unasked, "AFFORDABLE_S", math.inf)
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
    assert variant_to_break_down(slow, ["cpp"], changed.append) is None
    assert variant.compile_time is not None
    variant.compile_time.total_s = 5.0
    assert variant_to_break_down(slow, ["python"], changed.append) == "python"
    assert changed == []
    variant.compile_time.total_s = 57.0
    assert variant_to_break_down(slow, ["python"], changed.append) is None
    # Who shows the report hears of it.
    assert changed == ["python"]
    limit = overview(slow).limit
    assert limit is not None
    assert limit.headline == "Not measured yet."
    assert limit.text.startswith("Breaking down the time takes about 60 s, because")
