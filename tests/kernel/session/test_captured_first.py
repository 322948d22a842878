"""Whoever watches a first inspection sees the graphs before their code."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.analysis.overview.overview import overview
from compilescope.progress.progress import Progress
from compilescope.report import Report
from compilescope.session.session import Session

pytestmark = pytest.mark.slow

X = torch.ones(4)


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x.sin() + 1
    torch._dynamo.graph_break()
    return y.cos() * 2


@pytest.fixture
def session() -> Session:
    """A session whose inspections a panel shows."""
    session = Session()
    session.is_shown = lambda: True
    return session


def report_of(session: Session) -> Report:
    return list(session.inspections.values())[-1].report


def test_graphs_and_graph_breaks_come_before_the_code(session: Session) -> None:
    headlines: dict[str, str] = {}
    contents: list[tuple[int, list[tuple[list[str], bool, str]]]] = []

    def look(progress: Progress) -> None:
        report = report_of(session)
        headlines[progress.step] = overview(report).headline
        for variant in report.variants:
            if variant.stage == "captured":
                compilations = [
                    (
                        list(compilation.graphs),
                        not compilation.kernels,
                        compilation.absent["code"],
                    )
                    for compilation in variant.compilations
                ]
                contents.append((len(variant.breaks), compilations))

    report = session.inspect(broken, (X,), variants=("python", "cpp"), run=False, progress=look)
    assert headlines["Dynamo is tracing the call"] == "Nothing is compiled yet."
    captured = "Graphs are captured; their code is being generated."
    assert headlines["generating code: lowering and fusing, graph 1 of 2"] == captured
    assert headlines["generating code: lowering and fusing, graph 2 of 2"] == captured
    only_graphs = (["dynamo"], True, "Inductor is generating the code.")
    assert contents
    assert all(content == (1, [only_graphs] * 2) for content in contents)
    assert [variant.stage for variant in report.variants] == ["sources", "sources"]
    assert overview(report).headline == "Code is generated; nothing is measured yet."
    for variant in report.variants:
        assert not any("code" in compilation.absent for compilation in variant.compilations)


def test_what_is_cancelled_before_it_has_code_is_generated_anew(session: Session) -> None:
    stages: list[str] = []

    def cancel(progress: Progress) -> None:
        if progress.step.endswith("graph 2 of 2"):
            stages.extend(variant.stage for variant in report_of(session).variants)
            session.jobs.cancel(str(session.jobs.current and session.jobs.current.id))

    report = session.inspect(broken, (X,), variants="python", run=False, progress=cancel)
    assert "captured" in stages
    assert report.variants == []
    session.add(report.subject.id, cs.Variant())
    assert [variant.stage for variant in report.variants] == ["sources"]


def test_nobody_waits_for_what_nobody_sees(session: Session) -> None:
    session.is_shown = lambda: False
    stages: set[str] = set()

    def look(progress: Progress) -> None:
        stages.update(variant.stage for variant in report_of(session).variants)

    session.inspect(broken, (X,), variants=("python", "cpp"), run=False, progress=look)
    assert stages == {"sources"}
