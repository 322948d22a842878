"""Wrong arguments of the public functions are clear errors, before anything is done."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Subject

REPORT = cs.Report(subject=Subject(id="0", name="f"))
X = torch.ones(2)


class NoCall:
    """Nothing that any parameter takes."""


WRONG = (NoCall(), 1j, b"bytes", {1: 2}, X, "\ud800")
"""Of no parameter's type, each in another way: an operator, iteration or hash of it may fail."""
NUMBERS = (*WRONG, "8", None, True, float("nan"), float("inf"), -1)
"""Wrong where a number belongs."""
LIMITS = tuple(value for value in NUMBERS if value is not None)
"""Wrong where a number or None belongs."""
FLAGS = (*WRONG, "yes", None, 1)

PARAMETERS: dict[str, tuple[Any, ...]] = {
    "inspect.fn": WRONG,
    "inspect.args": WRONG,
    "inspect.kwargs": WRONG,
    "inspect.variants": WRONG,
    "inspect.run": FLAGS,
    "measure.report": WRONG,
    "measure.seconds": (*NUMBERS, 0),
    "study.report": WRONG,
    "chart.report": WRONG,
    "chart.what": WRONG,
    "reproducer.report": WRONG,
    "reproducer.kernel": WRONG,
    "reproducer.graph": WRONG,
    "reproducer.compilation": WRONG,
    "reproducer.variant": WRONG,
    "reproducer.run": FLAGS,
    "reproducer.minify": FLAGS,
    "watch.memory_mb": (*NUMBERS, 0),
    "budget.kernels": tuple(value for value in WRONG if value is not None),
    "budget.page": WRONG,
    "configure.ahead_mb": LIMITS,
    "configure.executors": WRONG,
    "what_if.call": (*WRONG, None),
    "tiered.model": (*WRONG, None, int),
    "tiered.tiers": WRONG,
    "tiered.mode": WRONG,
    "tiered.options": (*(value for value in WRONG), 3),
    "tiered.dynamic": ("yes", 1),
    "tiered.backend": ("inductor",),
    "tiers.compiled": WRONG,
    "pin_tier.compiled": (*WRONG, None),
    "pin_tier.tier": WRONG,
    "grid.modes": (*WRONG, None, "lite", [NoCall()]),
    "grid.cpp_wrapper": (*(value for value in WRONG if value is not X), None, [1]),
    "grid.options": (*WRONG, None, [None]),
    "plan_sweep.path": WRONG,
    "plan_sweep.fn": WRONG,
    "plan_sweep.args": WRONG,
    "plan_sweep.kwargs": WRONG,
    "plan_sweep.shapes": WRONG,
    "plan_sweep.timeout_s": LIMITS,
    "plan_sweep.seconds": NUMBERS,
    "plan_sweep.unit": WRONG,
    "plan_sweep.folder": WRONG,
    "sweep.executor": (*WRONG, "cpus"),
    "study.executor": (*WRONG, "cpus"),
    "study.factory": WRONG,
    "sweep.workers": (*WRONG, 0, 1.5),
    "sweep.progress": WRONG,
    "ranks.factory": WRONG,
    "ranks.size": (*WRONG, 0, 1.5, 99),
    "ranks.backend": (*WRONG, "none"),
    "ranks.timeout_s": (*NUMBERS, 0),
    "add_target.name": WRONG,
    "add_target.like": WRONG,
    "add_target.multiprocessors": (*WRONG, None, -1),
    "load.path": WRONG,
    "read_trace.path": WRONG,
    "open_package.path": WRONG,
    "Report.save.path": WRONG,
    "Report.save.redact": FLAGS,
    "Report.best.objective": WRONG,
    "Report.variant.name": WRONG,
}


def fn(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def right(folder: Path) -> dict[str, dict[str, Any]]:
    """Arguments that are right, of which one is replaced."""
    call = {"fn": fn, "args": (X,), "variants": "eager"}
    return {
        "inspect": {**call, "run": False},
        "measure": {"report": REPORT},
        "study": {"report": REPORT},
        "chart": {"report": REPORT},
        "reproducer": {"report": REPORT, "graph": "post_grad", "run": False},
        "what_if": {"call": fn},
        "tiered": {"model": fn},
        "pin_tier": {"compiled": torch.compile(fn), "tier": "python"},
        "plan_sweep": {**call, "path": folder / "plan.json"},
        "sweep": {**call, "folder": folder},
        "ranks": {"factory": fn, "size": 1, "backend": "gloo", "timeout_s": 1.0},
        "add_target": {"name": "mine", "like": "h100"},
        "Report.save": {"path": folder / "report.json"},
    }


@pytest.mark.parametrize("parameter", PARAMETERS)
def test_a_wrong_argument_is_a_clear_error(parameter: str, tmp_path: Path) -> None:
    name, _, argument = parameter.rpartition(".")
    function: Callable[..., Any] = operator.attrgetter(name)(_Public)
    for value in PARAMETERS[parameter]:
        arguments = {**right(tmp_path).get(name, {}), argument: value}
        if argument == "shapes":
            del arguments["args"]
        with pytest.raises(cs.CompilescopeError) as raised:
            begin(function(**arguments))
        assert raised.value.problem.what.endswith("."), value


def begin(result: Any) -> None:
    """Enters a block, whose arguments are checked when it begins."""
    if hasattr(result, "__enter__"):
        with result:
            pass


class _Public:
    """Where the functions are looked up."""

    Report = REPORT
    what_if = staticmethod(lambda call: cs.what_if(call))


for _name in {name.partition(".")[0] for name in PARAMETERS} - set(vars(_Public)):
    setattr(_Public, _name, staticmethod(getattr(cs, _name)))


def test_studies_are_named_by_texts() -> None:
    report = cs.inspect(fn, (X,), variants="eager", run=False)
    for value in WRONG:
        with pytest.raises(cs.CompilescopeError):
            cs.study(report, value)  # type: ignore[arg-type]


def watching(x: torch.Tensor) -> torch.Tensor:
    with cs.watch():
        return x + 1


def inspecting(x: torch.Tensor) -> torch.Tensor:
    cs.inspect(fn, (x,))
    return x + 1


def loading(x: torch.Tensor) -> torch.Tensor:
    cs.load("run.compilescope.json")
    return x + 1


@pytest.mark.parametrize("function", [watching, inspecting, loading])
def test_a_call_from_compiled_code_is_refused_and_not_traced(
    function: Callable[..., torch.Tensor],
) -> None:
    called_in = "was called in a function that torch.compile compiles. Dynamo would trace "
    compiled = torch.compile(function, backend="eager")
    for _ in range(2):
        with pytest.raises(cs.CompilescopeError, match=called_in):
            compiled(X)
    torch.compiler.reset()
    with pytest.raises(RuntimeError, match=r"compilescope\.\w+ is for eager code"):
        torch.compile(function, backend="eager", fullgraph=True)(X)


def test_every_public_function_is_marked_for_dynamo() -> None:
    members = (getattr(cs, name) for name in cs.__all__)
    public = [member for member in members if isinstance(member, types.FunctionType)]
    assert len(public) >= 18
    assert all(vars(member).get("_torchdynamo_disable") for member in public)
