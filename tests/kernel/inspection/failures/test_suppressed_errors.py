"""Errors that ``suppress_errors`` hides are problems of a report: torch ran the frame in eager."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._dynamo.config
from compilescope.report import VariantReport

X = torch.ones(31)


@pytest.fixture(autouse=True)
def errors_suppressed() -> Iterator[None]:
    with torch._dynamo.config.patch(suppress_errors=True):
        yield


def refuses(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
    raise RuntimeError("boom")


def refuses_sines(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
    if "sin" in graph.code:
        raise RuntimeError("boom")
    return graph.forward


def inspected(fn: Callable[..., Any], backend: Callable[..., Any]) -> VariantReport:
    compiled = torch.compile(fn, backend=backend)
    return cs.inspect(compiled, (X,), variants=("eager",), run=True).variants[0]


def test_a_variant_that_ran_in_eager_failed() -> None:
    variant = inspected(lambda x: (x.sin() + 1).sum(), refuses)
    (problem,) = variant.problems
    assert (variant.stage, variant.timing, variant.verdict) == ("failed", None, None)
    assert problem.severity == "error"
    assert problem.what.endswith("fell back to eager: backend='refuses' raised: RuntimeError: boom")
    assert problem.why.startswith("suppress_errors is on: ")
    assert "suppress_errors = False" in problem.remedy


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y.sin()


@torch.library.custom_op("suppressed::without_fake", mutates_args=())
def without_fake(x: torch.Tensor) -> torch.Tensor:
    return x.sin()


@pytest.mark.parametrize("run", [False, True])
def test_what_dynamo_cannot_trace_is_no_call_without_tensors(run: bool) -> None:
    report = cs.inspect(lambda x: without_fake(x) * 2, (X,), run=run)
    compiled = [variant for variant in report.variants if variant.requested.backend is not None]
    assert [variant.stage for variant in compiled] == ["failed", "failed"]
    for variant in compiled:
        (problem,) = variant.problems
        assert problem.severity == "error"
        assert "fell back to eager" in problem.what
        assert problem.why.startswith("suppress_errors is on: ")


def test_a_part_that_ran_in_eager_is_a_warning() -> None:
    variant = inspected(broken, refuses_sines)
    told = [problem for problem in variant.problems if "suppress_errors" in problem.why]
    assert [problem.severity for problem in told] == ["warning"]
    assert variant.stage == "built"


def test_a_graph_break_is_no_suppressed_error() -> None:
    variant = inspected(broken, lambda graph, inputs: graph.forward)
    assert (variant.stage, variant.problems) == ("built", [])
