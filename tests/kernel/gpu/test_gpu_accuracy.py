"""Accuracy on a GPU: half precision against double, and a wrong Triton kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from compilescope.torch_api.operators.double_precision import with_double_precision
from torch import nn
from torch._inductor.lowering import lowerings

from ..studies.test_accuracy import aten, studied, times

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(64, 192)
        self.out = nn.Linear(64, 64)
        self.norm = nn.LayerNorm(64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (part.unflatten(-1, (4, 16)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.norm(x + self.out(y.transpose(1, 2).flatten(2)))


def test_half_precision_is_judged_by_double() -> None:
    torch.manual_seed(0)
    net = Attention().cuda().half()
    double = Attention().cuda().double()
    double.load_state_dict(net.state_dict())
    x = torch.randn(2, 32, 64, device="cuda", dtype=torch.float16)
    with with_double_precision() as mode:
        output = net(x)
        output.float().square().sum().backward()
    expected = double(x.double())
    expected.square().sum().backward()
    assert torch.allclose(mode.value_of(output), expected, rtol=1e-9, atol=1e-11)
    gradient = mode.value_of(net.qkv.weight.grad)
    assert torch.allclose(gradient, double.qkv.weight.grad, rtol=1e-7, atol=1e-8)
    report = studied(net, (x,), "python")
    errors = {error.path: error for error in report.variant("python").accuracy}
    assert all(error.ok for error in errors.values())
    output_error = errors["output"]
    assert output_error.reference.startswith("eager in float64")
    assert 0 < output_error.reference_abs < 0.05
    assert 0 < output_error.eager_reference_abs < 0.05


def first_wrong_kernel(
    call: Callable[..., Any], args: tuple[Any, ...], name: str, monkeypatch: pytest.MonkeyPatch
) -> Any:
    monkeypatch.setitem(lowerings, aten.sin.default, times(aten.sin.default, 1.01))
    report = studied(call, args, name)
    variant = report.variant(name)
    assert not all(error.ok for error in variant.accuracy)
    assert variant.first_wrong_kernel is not None, variant.absent
    return variant.first_wrong_kernel


@pytest.mark.parametrize("name", ["python", "cpp"])
def test_a_wrong_triton_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        y = (x @ w).relu()
        return ((y @ w).sin() @ w).softmax(-1)

    args = (torch.randn(64, 64, device="cuda"), torch.randn(64, 64, device="cuda") / 8)
    first = first_wrong_kernel(call, args, name, monkeypatch)
    assert "triton" in first.kernel
    assert first.node == "sin"


def test_a_kernel_of_the_backward_in_the_threads_of_autograd(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(lowerings, aten.cos.default, times(aten.cos.default, 1.05))
    x = torch.randn(64, 64, device="cuda", requires_grad=True)
    report = studied(lambda x: (x.sin() @ x).tanh(), (x,), "python")
    first = report.variant("python").first_wrong_kernel
    assert first is not None, report.variant("python").absent
    assert first.key.startswith("launch:backward")
