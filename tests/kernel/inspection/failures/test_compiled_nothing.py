"""Why torch.compile compiled nothing of a call: a warning, not a failure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
import torch._inductor.config
from compilescope.analysis.overview.overview import overview
from compilescope.builds.compile_warnings import remarks
from compilescope.report import Break, Compilation

from ...subjects import Call
from .failing import inspect, the_problem

pytestmark = pytest.mark.slow


HERE = str(Path(__file__))


X = torch.randn(4, 8)


def test_a_frame_given_up_names_its_graph_break() -> None:
    def skipped(items: Iterator[torch.Tensor]) -> torch.Tensor:
        return sum((item.sin() for item in items), X)

    problem = the_problem(inspect(Call(skipped, (iter([X]),)), run=False), "sources")
    assert problem.what == "torch.compile compiled nothing."
    assert problem.why.startswith("Dynamo gave up on the frame, which runs in eager: ")
    assert problem.where is not None
    # What to do first; torch's further advice and its link are details.
    assert "https://" not in problem.remedy
    assert "https://" in problem.detail
    # torch 2.11 says where in its own sum() it gave up.
    assert problem.where.file == HERE or torch.__version__.startswith("2.11.")


def test_a_module_of_torchs_own_that_was_compiled_in_place() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()).requires_grad_(False)
    module.compile()
    x = torch.randn(2, 4)
    problem = the_problem(inspect(Call(module, (x,)), run=False), "sources")
    assert problem.what == "torch.compile compiled nothing."
    assert problem.why.startswith("Sequential is a class of torch's own")
    # What the remedy says compiles it.
    module.forward = torch.compile(module.forward)  # type: ignore[method-assign]
    assert inspect(Call(module.forward, (x,)), run=False).compilation("0/0").graphs


@pytest.mark.parametrize("reason", ["Hooks need it", "Hooks need it."])
def test_why_a_frame_was_given_up_ends_with_one_full_stop(reason: str) -> None:
    (problem,) = remarks([Compilation(id="0/0", breaks=[Break(reason=reason)])])
    assert problem.why == "Dynamo gave up on the frame, which runs in eager: Hooks need it."


@pytest.mark.parametrize("run", [False, True])
def test_a_graph_without_work(run: bool) -> None:
    report = inspect(Call(lambda x: x, (X,)), run=run)
    problem = the_problem(report, "built" if run else "sources")
    assert problem.what == "torch.compile compiled nothing."
    assert report.compilation("0/0").absent["dynamo"]


def generates(x: torch.Tensor) -> Iterator[torch.Tensor]:
    yield x.sin()


def test_a_generator_that_nothing_consumes() -> None:
    problem = the_problem(inspect(Call(generates, (X,)), run=False), "sources")
    assert problem.what == "torch.compile compiled nothing."
    assert problem.why == (
        "The call returns a generator that nothing consumes: no line of its body runs."
    )
    consumed = inspect(Call(lambda x: list(generates(x)), (X,)), run=False)
    assert consumed.compilation("0/0").graphs


def returns_generator(x: torch.Tensor) -> Iterator[torch.Tensor]:
    y = x + 1
    return (y.sin() for _ in range(2))


@pytest.mark.parametrize(
    "fn", [returns_generator, lambda x: generates(x), functools.partial(generates)]
)
def test_a_generator_that_dynamo_consumes_is_no_wrong_result(fn: Callable[..., Any]) -> None:
    report = inspect(Call(fn, (X,)), variants={"a": cs.Variant(backend="eager")})
    problem = the_problem(report, "built")
    assert problem.severity == "warning"
    assert problem.what == (
        "The call returns a generator, which computes nothing in eager until it is consumed."
    )
    assert problem.remedy == "Inspect a function that consumes it, such as lambda x: list(f(x))."
    variant = report.variant("a")
    assert (variant.accuracy, variant.absent["accuracy"]) == ([], problem.what)
    assert overview(report).headline == problem.what
    consumed = cs.inspect(lambda x: list(fn(x)), (X,), variants={"a": cs.Variant(backend="eager")})
    assert consumed.problems == []


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_torchscript_is_left_as_it_is() -> None:
    traced = torch.jit.trace(torch.nn.Linear(8, 8), X)
    report = inspect(Call(traced, (X,)), variants="python", run=False)
    problem = the_problem(report, "sources")
    assert problem.why == "It is TorchScript, which torch.compile leaves as it is."
