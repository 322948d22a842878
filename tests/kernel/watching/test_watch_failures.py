"""Compilations that fail under a watch are listed and counted, and are a problem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._dynamo.config
from compilescope.report import Report, conclude
from torch._dynamo.backends.common import aot_autograd
from torch._dynamo.exc import BackendCompilerFailed, UserError
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError

from .watch_subjects import EAGER, latest

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_dynamo")]

SUPPRESSED = torch._dynamo.config.patch(suppress_errors=True)
BOOM = "backend='refuses' raised: RuntimeError: boom"


def refuses(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
    raise RuntimeError("boom")


def sine(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def cosine(x: torch.Tensor) -> torch.Tensor:
    return x.cos() + 1


def in_a_loop(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x + 1
    return x


def outcomes(report: Report) -> list[str]:
    return [compilation.outcome for compilation in report.compilations]


def test_an_error_that_torch_suppresses_is_a_warning() -> None:
    with cs.watch() as report, SUPPRESSED:
        for _ in range(2):
            torch.compile(sine, backend=refuses)(torch.ones(2))
            torch._dynamo.reset()
        watch = latest()
    assert outcomes(report) == ["eager", "eager"]
    (problem,) = report.problems
    assert problem.severity == "warning"
    assert problem.what == f"2 compilations fell back to eager: {BOOM}"
    assert problem.compilations == ["0/0", "1/0"]
    assert problem.why.startswith("suppress_errors is on: ")
    assert "suppress_errors = False" in problem.remedy
    counts = "2 compilations (2 fell back to eager)"
    assert f"{counts}, 0 recompiles" in str(report)
    assert str(report).count("fell back to eager") == 4
    assert f"{counts}: 0 recompiles" in conclude(report).headline
    assert ">fell back to eager<" in report._repr_html_()
    state = watch.state()
    assert state.counts[0] == counts
    row = state.latest[0]
    assert (row.failed, row.outcome_words) == (BOOM, "fell back to eager")


def test_what_is_not_suppressed_failed() -> None:
    with cs.watch() as report, SUPPRESSED:
        with pytest.raises(BackendCompilerFailed):
            torch.compile(sine, backend=refuses, fullgraph=True)(torch.ones(2))
        # The frame around the block falls back to eager; that of the function within does not.
        strict = torch._dynamo.error_on_graph_break(True)(cosine)
        with pytest.raises(BackendCompilerFailed):
            torch.compile(strict, backend=refuses)(torch.ones(2))
    assert outcomes(report) == ["failed", "eager", "failed"]
    error = report.problems[0]
    assert error.severity == "error"
    assert error.what.startswith("0/0 failed: BackendCompilerFailed")
    assert "suppress_errors" not in error.why + error.remedy


def test_a_pass_that_raises_in_inductor_is_a_warning() -> None:
    def broken(graph: torch.fx.Graph) -> None:
        raise RuntimeError("bad pass")

    with cs.watch() as report, SUPPRESSED:
        torch.compile(sine, options={"post_grad_custom_post_pass": broken})(torch.ones(2))
    (problem,) = report.problems
    assert problem.what == "0/0 fell back to eager: RuntimeError: bad pass"


def test_an_error_that_the_code_catches_is_listed_as_failed() -> None:
    compiled = torch.compile(sine, backend=refuses)
    with cs.watch() as report:
        for _ in range(2):
            with pytest.raises(BackendCompilerFailed):
                compiled(torch.ones(2))
        torch.compile(cosine, **EAGER)(torch.ones(2))
    assert outcomes(report) == ["failed", "failed", "compiled"]
    (problem,) = report.problems
    assert problem.severity == "error"
    assert problem.what == f"2 compilations failed: BackendCompilerFailed: {BOOM}"
    assert "3 compilations (2 failed), 0 recompiles" in str(report)


def test_an_error_that_leaves_the_block_is_listed_once() -> None:
    with pytest.raises(BackendCompilerFailed), cs.watch() as report:
        torch.compile(sine, backend=refuses)(torch.ones(2))
    assert outcomes(report) == ["failed"]
    (problem,) = report.problems
    assert problem.what == "The backend 'refuses' cannot compile this."


def test_a_backward_that_fails_is_raised_with_any_setting() -> None:
    backend = aot_autograd(fw_compiler=lambda graph, inputs: graph, bw_compiler=refuses)
    with cs.watch() as report, SUPPRESSED:
        loss = torch.compile(sine, backend=backend)(torch.ones(2, requires_grad=True)).sum()
        with pytest.raises(RuntimeError, match="boom"):
            loss.backward()
    assert outcomes(report) == ["failed"]
    (problem,) = report.problems
    assert problem.severity == "error"
    assert problem.what == "The backward of 0/0 failed: RuntimeError: boom"


@pytest.mark.parametrize("suppressed", [False, True])
def test_a_frame_that_a_graph_break_leaves_to_eager_is_no_problem(suppressed: bool) -> None:
    with cs.watch() as report, torch._dynamo.config.patch(suppress_errors=suppressed):
        torch.compile(in_a_loop, **EAGER)(torch.ones(2))
    assert "eager" in outcomes(report)
    assert report.variants[0].breaks
    assert report.problems == []


def test_details_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilescope.watching.log._MAX_DETAILS", 1)
    with cs.watch() as report, SUPPRESSED:
        for fn in (sine, cosine):
            torch.compile(fn, backend=refuses)(torch.ones(2))
    assert [bool(problem.detail) for problem in report.problems] == [True, False]


def test_a_size_that_cannot_be_dynamic_has_its_cause_and_what_to_do() -> None:
    def product(x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(4, 2)

    x = torch.ones(3, 4)
    torch._dynamo.mark_dynamic(x, 1)
    with cs.watch() as report, pytest.raises(ConstraintViolationError):
        torch.compile(product, **EAGER)(x)
    (problem,) = report.problems
    assert problem.what.endswith(
        "A size is marked as dynamic, which it cannot be: L['x'].size()[1]."
    )
    assert problem.why.endswith("your code specialized it to be a constant (4).")
    assert "torch._dynamo.maybe_mark_dynamic" in problem.remedy
    assert "backend" not in problem.remedy
    fresh = torch.ones(3, 4)
    torch._dynamo.maybe_mark_dynamic(fresh, 1)
    assert torch.compile(product, **EAGER)(fresh).shape == (3, 2)


def test_a_condition_on_data_has_its_cause_and_what_to_do() -> None:
    def doubled(x: torch.Tensor, is_checked: bool) -> torch.Tensor:
        places = x.nonzero()
        if is_checked:
            torch._check(places.shape[0] > 3)
        return places * 2 if places.shape[0] > 3 else places

    compiled = torch.compile(doubled, **EAGER, fullgraph=True)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        with cs.watch() as report, pytest.raises(UserError):
            compiled(torch.ones(4), False)
        (problem,) = report.problems
        assert problem.what.endswith("Could not guard on data-dependent expression u0 > 3")
        assert problem.why == "Which case holds (u0 > 3) is known only when the code runs."
        assert "torch._check(" in problem.remedy
        assert "backend" not in problem.remedy
        assert compiled(torch.ones(4), True).shape == (4, 1)
