"""Where torch.compile is turned off, a report says by what, and does not blame the call."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch._dynamo.config
from compilescope.analysis.overview.overview import overview
from compilescope.checks import environment
from compilescope.checks.context import CheckContext
from compilescope.report import Problem
from torch.utils._python_dispatch import TorchDispatchMode

from ...report.overview_reports import make_report
from ...subjects import Call
from .failing import inspect, the_problem

X = torch.ones(31)


def work(x: torch.Tensor) -> torch.Tensor:
    return x.sin() + 1


def test_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    report = inspect(Call(work, (X,)), run=False)
    problem = the_problem(report, "sources")
    assert problem.what == "TORCHDYNAMO_DISABLE turns torch.compile off: everything runs in eager."
    assert problem.remedy == 'Run del os.environ["TORCHDYNAMO_DISABLE"].'
    assert overview(report).headline == problem.what
    # The doctor says the same.
    check = environment.switched_on(CheckContext(folder=tmp_path))
    assert (check.finding, check.remedy) == (problem.what, problem.remedy)
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "0")
    assert inspect(Call(work, (X,)), run=False).compilation("0/0").graphs


@pytest.mark.parametrize("variable", ["", "TORCH_COMPILE_DISABLE"])
def test_the_setting_and_the_variable_that_it_comes_from(
    monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    if variable:
        monkeypatch.setenv(variable, "1")
    with torch._dynamo.config.patch(disable=True):
        problem = the_problem(inspect(Call(work, (X,)), run=False), "sources")
    by = variable or "torch._dynamo.config.disable"
    assert problem.what == f"{by} turns torch.compile off: everything runs in eager."
    assert "torch._dynamo.config.disable = False" in problem.remedy


@pytest.mark.parametrize("stance", ["force_eager", "eager_on_recompile", "eager_then_compile"])
def test_a_stance(stance: str) -> None:
    with torch.compiler.set_stance(stance):
        problem = the_problem(inspect(Call(work, (X,)), run=False), "sources")
    assert problem.what.startswith(f"torch's stance is {stance}: ")
    assert problem.remedy == 'Run torch.compiler.set_stance("default").'


def test_a_stance_that_makes_compiling_an_error() -> None:
    with torch.compiler.set_stance("fail_on_recompile"):
        problem = the_problem(inspect(Call(work, (X,)), run=False))
    assert problem.what.startswith("torch's stance is fail_on_recompile: ")
    assert "set_stance" in problem.remedy


@pytest.mark.parametrize("run", [False, True])
@pytest.mark.parametrize(
    ("stance", "backend"), [("default", "eager"), ("aot_eager_then_compile", None)]
)
def test_a_stance_that_takes_another_backend(stance: str, backend: str | None, run: bool) -> None:
    with torch.compiler.set_stance(stance, force_backend=backend):
        problem = the_problem(inspect(Call(work, (X,)), run=run))
    assert problem.severity == "error"
    assert "stance" in problem.what
    assert problem.remedy == 'Run torch.compiler.set_stance("default").'


class Passes(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
        return func(*args, **(kwargs or {}))


def test_a_mode() -> None:
    with Passes():
        problem = the_problem(inspect(Call(work, (X,)), run=False), "sources")
    assert problem.what.startswith("Passes is active: ")
    assert problem.remedy == "Inspect the call outside of the mode."


def test_what_was_not_compiled_is_not_judged() -> None:
    report = make_report(eager=60.0, python=90.0)
    assert [item.what for item in overview(report).suggestions]
    variant = report.variant("python")
    variant.compilations = []
    variant.problems = [Problem(severity="warning", what="A variable turns it off.")]
    shown = overview(report)
    assert (shown.headline, shown.suggestions) == ("A variable turns it off.", [])
