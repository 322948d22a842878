"""A capture runs a graph no further than its values matter, and finds the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import compilescope as cs
import pytest
import torch
from compilescope.report import Report
from compilescope.torch_api.dynamo import needed_run
from torch import nn
from torch.nn import functional
from torch.nn.modules.module import register_module_forward_hook

from ..subjects import Call

NUMBERS = re.compile(r"graph id: \d+|AOT ID: \['\d+")
"""Counted or taken from addresses, in each capture anew."""
WEIGHT = torch.eye(4)
TABLE = nn.Embedding(3, 4).requires_grad_(False)
X = torch.linspace(-1, 1, 16).reshape(4, 4)


class Layers(nn.Sequential):
    def __init__(self, *modules: nn.Module) -> None:
        super().__init__(nn.Linear(4, 4), nn.GELU(), *modules)


class Called(Layers):
    def __call__(self, x: torch.Tensor) -> Any:
        return super().__call__(x)[0]


def hooked() -> Layers:
    layers = Layers()
    layers.register_forward_hook(lambda module, args, output: output + 1)
    return layers


def look_up(index: torch.Tensor) -> torch.Tensor:
    return functional.linear(TABLE(index), WEIGHT)


def broken(x: torch.Tensor) -> torch.Tensor:
    x = functional.linear(x, WEIGHT)
    torch._dynamo.graph_break()
    return x.relu()


def looped(x: torch.Tensor) -> torch.Tensor:
    """Not compiled itself: the break is in a loop."""
    for _ in range(2):
        torch._dynamo.graph_break()
        x = layer(x)
    return x[0]


def layer(x: torch.Tensor) -> torch.Tensor:
    return functional.linear(x, WEIGHT)


def loss(x: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(x, torch.tensor([0, 1, 2, 3]))


@contextmanager
def asked(answers: list[bool], *, all_runs: bool) -> Iterator[None]:
    """Notes for each graph whether the call ended with it; ``all_runs`` runs all of them."""
    ending = needed_run.ending

    def noted(graph: Any) -> Callable[..., Any] | None:
        end = None if all_runs else ending(graph)
        answers.append(end is not None)
        return end

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(needed_run, "ending", noted)
        yield


def captured(call: Call, *, all_runs: bool = False) -> tuple[Report, list[bool]]:
    torch.manual_seed(0)
    answers: list[bool] = []
    with asked(answers, all_runs=all_runs):
        report = cs.inspect(call.fn, call.args, variants="python", run=False)
    return report, answers


SUBJECTS = {
    "a function": (Call(layer, (X,)), [True]),
    "a module": (Call(Layers().eval(), (X,)), [True]),
    "a training step's forward": (Call(lambda x: layer(x).sum(), (X,)), [True]),
    "a library's module": (
        Call(nn.Sequential(nn.Linear(4, 4), nn.GELU()).requires_grad_(False), (X,)),
        [True],
    ),
    "indices first": (Call(look_up, (torch.tensor([0, 2]),)), [True]),
    "statistics that are updated": (Call(Layers(nn.BatchNorm1d(4)), (X,)), [False]),
    "statistics as they are": (
        Call(Layers(nn.BatchNorm1d(4)).eval().requires_grad_(False), (X,)),
        [True],
    ),
    "indices last": (Call(loss, (X,)), [False]),
    "a tensor as an index": (Call(lambda x, i: x.relu()[i], (X, torch.tensor([0]))), [False]),
    "integers": (Call(lambda x: x * 2, (torch.arange(3),)), [False]),
    "two dtypes": (Call(lambda x: x.double() @ WEIGHT.double(), (X,)), [True]),
    "a hook that is compiled": (Call(hooked(), (X,)), [True]),
    "a __call__ of its own": (Call(Called().requires_grad_(False), (X,)), [True]),
    "a break": (Call(broken, (X,)), [False, False]),
    "called by a function that is not compiled": (Call(looped, (X,)), [False]),
}


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_graph_runs_where_something_depends_on_it_and_the_report_is_the_same(name: str) -> None:
    call, expected = SUBJECTS[name]
    report, ended = captured(call)
    assert ended == expected
    assert report.variants[0].stage == "sources"
    other, _ = captured(call, all_runs=True)
    assert contents(report) == contents(other)


def contents(report: Report) -> list[object]:
    """What a capture decides of a report; guards name objects by numbers that differ."""
    [variant] = report.variants
    return [
        *variant.problems,
        *(
            (
                compilation.id,
                compilation.frame,
                {stage: NUMBERS.sub("", graph.text) for stage, graph in compilation.graphs.items()},
                NUMBERS.sub("", compilation.code.python or ""),
                [guard.type for guard in compilation.guards],
                [graph_break.reason for graph_break in compilation.breaks],
            )
            for compilation in variant.compilations
        ),
    ]


@pytest.mark.filterwarnings("ignore:Using `torch.compile")
def test_a_hook_of_all_modules_has_the_result() -> None:
    handle = register_module_forward_hook(lambda module, args, output: output)
    try:
        _, ended = captured(Call(Layers().eval(), (X,)))
    finally:
        handle.remove()
    assert ended == [False]


def test_an_index_out_of_range_is_found_before_the_layers_that_do_not_run() -> None:
    call = Call(look_up, (torch.tensor([0, 3]),))
    report, ended = captured(call)
    assert ended == [True]
    other, _ = captured(call, all_runs=True)
    problems = report.variants[0].problems
    assert [problem.severity for problem in problems] == ["error"]
    assert problems == other.variants[0].problems
    assert "index out of range" in problems[0].what


@torch.library.custom_op("compilescope_needed_run::add_one", mutates_args={"x"})
def add_one(x: torch.Tensor) -> None:
    x.add_(1)
    add_one_calls.append(x)


add_one_calls: list[torch.Tensor] = []


class Mutating(nn.Module):
    def __init__(self, mutate: Callable[[nn.Module], None]) -> None:
        super().__init__()
        self.register_buffer("state", torch.arange(4.0))
        self.norm = nn.BatchNorm1d(4)
        self.head = nn.Linear(4, 4)
        self.mutate = mutate

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.mutate(self)
        return self.head(x)


MUTATIONS: dict[str, Callable[[Any], object]] = {
    "a view in place": lambda module: module.state[1:].add_(1),
    "statistics": lambda module: module.norm(X),
    ".data": lambda module: module.head.weight.data.mul_(2),
    "set_": lambda module: module.state.set_(torch.zeros(4)),
    "resize_": lambda module: module.state.resize_(8),
    "a custom operator": lambda module: add_one(module.state),
    "an assignment": lambda module: setattr(module, "state", module.state + 1),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_what_is_changed_before_layers_that_do_not_run_is_put_back(name: str) -> None:
    module = Mutating(MUTATIONS[name])
    tensors = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    before = {key: (tensor.clone(), tensor._version) for key, tensor in tensors.items()}
    add_one_calls.clear()
    report, _ = captured(Call(module, (X,)))
    assert not any("could not be put back" in problem.what for problem in report.problems)
    after = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    assert all(after[key] is tensor for key, tensor in tensors.items())
    for key, (values, version) in before.items():
        assert torch.equal(after[key], values)
        assert after[key]._version == version
    assert bool(add_one_calls) == (name == "a custom operator")
