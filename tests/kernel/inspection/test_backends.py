"""Every backend that torch has registered: inspected, and what it cannot do said in words."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Report, VariantReport
from compilescope.session.session import get_session
from compilescope.torch_api.trace.log_compile_ids import FIRST_FRAME, shown
from compilescope.views.html import report as html
from compilescope.views.text import report as text
from torch._dynamo.backends.registry import list_backends
from torch._guards import CompileId, TraceId
from torch._logging._internal import TorchLogsFormatter

from ..subjects import plain as subject

USE_INDUCTOR = ("inductor", "compilescope")
OTHERS = [name for name in list_backends(exclude_tags=()) if name not in USE_INDUCTOR]


@pytest.fixture(scope="module")
def report() -> Report:
    return cs.inspect(
        subject,
        (torch.randn(4, 8),),
        variants=[cs.Variant(), *(cs.Variant(backend=name) for name in OTHERS)],
    )


def of(report: Report, backend: str) -> VariantReport:
    return report.variant(f"backend={backend}")


def test_all_are_offered_or_torchs_own_tests() -> None:
    offered = set(get_session().choices().backends)
    left_out = set(OTHERS) - offered
    assert all("TESTING" in name or "minifier" in name for name in left_out)


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_back_end_is_inspected(report: Report, name: str) -> None:
    variant = of(report, name)
    assert "graphs" in variant.compilations[0].__struct_fields__
    assert variant.compilations[0].graphs.keys() >= {"dynamo"}
    assert variant.compilations[0].absent["code"].startswith(f"The backend '{name}' generates no")
    errors = [problem for problem in variant.problems if problem.severity == "error"]
    assert (variant.stage == "failed") <= bool(errors)
    for problem in errors:
        assert "Traceback" not in problem.what + problem.why
        assert "compilescope failed" not in problem.what
        assert problem.remedy
    changes = variant.changes
    if variant.stage == "failed":
        assert changes is None  # it has no code to compare
        return
    assert changes is not None
    assert changes.baseline == "python"
    assert "the kernels" in changes.only_inductor
    assert f"the backend {name} generates no kernels" in changes.summary


@pytest.mark.slow
def test_the_backend_with_tiers_is_shown_with_inductors_code() -> None:
    variants = [cs.Variant(), cs.Variant(backend="compilescope")]
    report = cs.inspect(subject, (torch.randn(4, 8),), variants=variants)
    assert cs.tiers().graphs == []  # nothing is built behind an inspection
    variant = of(report, "compilescope")
    plain = report.variant("python").compilations[0]
    assert variant.compilations[0].code.python
    assert [kernel.source for kernel in variant.compilations[0].kernels] == [
        kernel.source for kernel in plain.kernels
    ]
    setting = next(row for row in variant.effective if row.setting == "backend")
    assert (setting.actual, setting.why, setting.differs) == ("compilescope", "", False)
    assert variant.changes is not None
    assert not variant.changes.only_inductor


@pytest.mark.slow
def test_what_does_not_work_by_name_says_why(report: Report) -> None:
    for name, item in {
        "openxla": "needs a package that is not installed",
        "tvm": "needs a package that is not installed",
        "dynamo_minifier_backend": "cannot be chosen by its name alone",
    }.items():
        if name in OTHERS and (problems := of(report, name).problems):
            assert item in problems[0].what


@pytest.mark.slow
def test_those_that_work_are_built(report: Report) -> None:
    for name in ("eager", "aot_eager"):
        assert of(report, name).stage == "built"
        assert all(error.ok for error in of(report, name).accuracy)


@pytest.mark.slow
def test_the_static_views_name_what_is_inductors(report: Report) -> None:
    for view in (text.render(report), html.render(report)):
        assert "Inductor only" in view


def split(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    torch._dynamo.graph_break()
    return y.cos()


def test_torchs_log_lines_name_what_is_compiled_as_the_report_does() -> None:
    log, lines = logging.getLogger("torch._dynamo"), io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(TorchLogsFormatter())

    def logging_backend(graph: torch.fx.GraphModule, inputs: object) -> Callable[..., Any]:
        log.warning("compiling")
        return graph.forward

    wanted = {
        name: cs.Variant(backend=logging_backend, dynamic=dynamic)  # type: ignore[arg-type]
        for name, dynamic in (("fixed", False), ("symbolic", True))
    }
    log.addHandler(handler)
    try:
        report = cs.inspect(split, (torch.randn(4),), variants=wanted, run=True)
        torch.compile(split, backend=logging_backend)(torch.randn(4))
    finally:
        log.removeHandler(handler)
    ids = re.findall(r"\] \[([^]]*)\] compiling", lines.getvalue())
    *inspected, first, second = ids
    compiled = [
        compilation.id for name in wanted for compilation in report.variant(name).compilations
    ]
    # Dynamo begins a frame that breaks once more, and says so with _1.
    assert inspected == ["0/0_1", "1/0"] * 2
    assert [name.removesuffix("_1") for name in inspected] == compiled
    # What the user compiles is named as ever.
    frame = int(first.partition("/")[0])
    assert second == f"{frame + 1}/0"
    assert frame < FIRST_FRAME


def test_ids_are_shown_until_the_last_of_several_threads_is_done() -> None:
    trace = TraceId(CompileId(frame_id=FIRST_FRAME, frame_compile_id=0), 0)
    plain = str(trace)
    capture, generation = shown(), shown()
    capture.__enter__()
    named = str(trace)
    generation.__enter__()
    capture.__exit__(None, None, None)
    assert str(trace) == named != plain
    generation.__exit__(None, None, None)
    assert str(trace) == plain


def shifted(x: torch.Tensor, by: int) -> torch.Tensor:
    return x.sin() + by if type(x) is torch.Tensor else x


def looped(x: torch.Tensor) -> torch.Tensor:
    for by in (1, 2):
        x = shifted(x, by)
        torch._dynamo.graph_break()
    return x


def test_no_frame_number_of_an_inspection_stands_in_its_report() -> None:
    report = cs.inspect(looped, (torch.randn(4),), variants=cs.Variant(backend="eager"), run=True)
    reasons = [
        reason
        for compilation in report.compilations
        if compilation.recompile is not None
        for reason in compilation.recompile.reasons
    ]
    assert reasons
    assert any(compilation.guards for compilation in report.compilations)
    numbers = r"(?<!\d)10\d{5}/\d|_c10\d{5}|\[10\d{5}"
    assert str(FIRST_FRAME).startswith("10")
    assert re.findall(numbers, report.to_json()) == []
