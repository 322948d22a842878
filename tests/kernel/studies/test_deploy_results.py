"""Ways to deploy a call: whether their results are those of the call in eager."""

from __future__ import annotations

import pytest
import torch
from compilescope.isolation.user_state import preserved
from compilescope.measure.numerics import compare
from compilescope.studies.deploy.way_process import _compare
from compilescope.subject.pickled_subject import Call
from compilescope.torch_api.dynamo.module_code import ModuleCode
from torch import nn


def halves(x: torch.Tensor) -> torch.Tensor:
    for _ in range(200):
        x = x + 0.0013
    return x


def test_a_result_that_is_nearer_to_float64_than_eagers_is_accurate() -> None:
    x = torch.linspace(1, 2, 64, dtype=torch.float16)
    nearer = halves(x.float()).half()
    assert not all(error.ok for error in compare(halves(x), nearer))
    call = Call(halves, (x,), {})
    for output, is_accurate in ((nearer, True), (nearer + 5, False)):
        with preserved(*call) as snapshot:
            assert _compare(call, output, ModuleCode(halves), snapshot)[0] is is_accurate


def test_random_results_are_not_compared() -> None:
    call = Call(lambda x: torch.rand_like(x) + x, (torch.ones(4),), {})
    with preserved(*call) as snapshot:
        assert _compare(call, torch.ones(4), ModuleCode(call.fn), snapshot) == (
            None,
            "the call draws random numbers, so its results were not compared.",
        )


@pytest.mark.parametrize(("factor", "is_accurate"), [(1.0, True), (2.0, False)])
def test_what_a_training_step_changes_is_compared_too(factor: float, is_accurate: bool) -> None:
    model = nn.Linear(4, 1)

    def step(x: torch.Tensor) -> torch.Tensor:
        loss = model(x).square().mean()
        loss.backward()
        return loss.detach()

    call = Call(step, (torch.ones(2, 4),), {})
    with preserved(*call) as snapshot:
        output = step(*call.args)
        assert model.weight.grad is not None
        model.weight.grad *= factor
        assert _compare(call, output, ModuleCode(step), snapshot)[0] is is_accurate


class Seen(nn.Module):
    """Creates an attribute in its call, where ``torch.export`` leaves a tensor without values."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen = x.detach()
        return x.relu()


@pytest.mark.filterwarnings("ignore:.*attribute:UserWarning")
def test_a_tensor_that_tracing_leaves_in_the_model_differs_from_eagers() -> None:
    call = Call(Seen(), (torch.ones(2, 4),), {})
    with preserved(*call) as snapshot:
        torch.export.export(call.fn, call.args)
        is_accurate, what = _compare(call, torch.ones(2, 4), ModuleCode(call.fn), snapshot)
    assert is_accurate is False
    assert "seen (left as a FakeTensor, which has no values)" in what
