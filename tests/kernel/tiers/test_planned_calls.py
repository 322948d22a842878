"""Calls that a library plans in each thread, which a check runs before the new wrapper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
import torch
from compilescope.tiers import background
from compilescope.tiers.background_check import BackgroundCheck
from compilescope.torch_api.inductor.background import background_runs
from compilescope.torch_api.inductor.background.planned_calls import (
    PlannedCall,
    TensorSpec,
    planned_calls,
)
from compilescope.torch_api.inductor.both_wrappers.compiling import Traits
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from .stand_in_wrappers import doubled

ATTENTION = torch.ops.aten._scaled_dot_product_cudnn_attention.default
QUERY = TensorSpec(size=(1, 2, 8, 16), stride=(256, 16, 32, 1), dtype="float16", device_type="meta")
CALL = PlannedCall(
    "_scaled_dot_product_cudnn_attention",
    (QUERY, QUERY, QUERY, None, False),
    {"scale": 0.25},
)


def graph_of(*dropouts: float, sizes: DimDynamic = DimDynamic.STATIC) -> torch.fx.GraphModule:
    """A graph that calls cuDNN's attention once for each dropout."""
    graph = torch.fx.Graph()
    inputs = [graph.placeholder(name) for name in ("query", "key", "value")]
    value = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(
        torch.empty_strided(QUERY.size, QUERY.stride, dtype=torch.half, device="meta"),
        symbolic_context=StatelessSymbolicContext([sizes] * len(QUERY.size)),
    )
    for node in inputs:
        node.meta["val"] = value
    calls = [
        graph.call_function(
            ATTENTION,
            (*inputs, None, False, *([dropout_p] if dropout_p else [])),
            {"scale": 0.25},
        )
        for dropout_p in dropouts
    ]
    graph.output(tuple(calls))
    return torch.fx.GraphModule({}, graph)


def test_equal_calls_are_planned_once() -> None:
    planned = planned_calls(graph_of(0.0, 0.0))
    assert planned == (CALL,)
    # On the device "meta" nothing is computed, but the arguments are those of the operator.
    planned[0].run()


def test_calls_that_draw_numbers_are_not_planned() -> None:
    assert planned_calls(graph_of(0.1, 0.0)) == (CALL,)


def test_calls_of_sizes_that_vary_are_not_planned() -> None:
    assert planned_calls(graph_of(0.0, sizes=DimDynamic.DYNAMIC)) == ()


def test_later_processes_read_them() -> None:
    traits = Traits(frozenset({1}), True, (CALL,))
    assert msgspec.json.decode(msgspec.json.encode(traits), type=Traits) == traits
    # What an earlier version has written.
    assert msgspec.json.decode(b"[[1], true]", type=Traits) == Traits(frozenset({1}), True)


def test_a_check_pauses_between_them_and_the_wrapper(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    monkeypatch.setattr(PlannedCall, "run", lambda call: steps.append(call.operator))
    monkeypatch.setattr(background_runs, "yield_to_user", lambda: steps.append("pause"))
    run_check((CALL, PlannedCall("another", (), {})), steps)
    planned = [CALL.operator, "pause", "another", "pause"]
    assert steps == ["pause", *planned, "pause", "wrapper", "pause", "settled"]


def test_a_call_that_fails_leaves_the_check_to_the_wrapper() -> None:
    steps: list[str] = []
    run_check((PlannedCall("no_such_operator", (), {}),), steps)
    assert steps == ["wrapper", "settled"]


def run_check(planned: Sequence[PlannedCall], steps: list[str]) -> None:
    """A check of equal wrappers, to its end."""

    def second(inputs: list[Any]) -> list[Any]:
        steps.append("wrapper")
        return doubled(inputs)

    check = BackgroundCheck(
        doubled,
        second,
        static=(),
        copies_all=False,
        device=None,
        max_copied_bytes=2**20,
        changes=(),
        undefined=(),
        kernels=1,
        planned=planned,
        settle=lambda: steps.append("settled"),
        give_up=lambda: steps.append("given up"),
    )
    check([torch.ones(3)])
    assert background.wait(600)
