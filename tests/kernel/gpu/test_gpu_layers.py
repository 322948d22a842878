"""Where one call's time goes on a real GPU. Skipped where there is none."""

from __future__ import annotations

import pytest
import torch
from compilescope.report import VariantReport
from compilescope.report.variant import Variant
from torch import nn

from ..studying import study

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def studied(model: nn.Module, x: torch.Tensor, variant: Variant) -> VariantReport:
    report = VariantReport(name="v", requested=variant, stage="built")
    study("layers", model, (x,), report)
    return report


def network(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)).cuda()


@pytest.mark.parametrize("cpp_wrapper", [False, True], ids=["python", "cpp"])
def test_small_kernels_run_beside_the_host(cpp_wrapper: bool) -> None:
    model = network(64).eval().requires_grad_(False)
    report = studied(model, torch.randn(8, 64, device="cuda"), Variant(cpp_wrapper=cpp_wrapper))
    (layers,) = report.layers
    assert layers.device == "cuda"
    assert layers.sum_us == pytest.approx(layers.whole_us, rel=0.3), layers
    by_name = {layer.kind: layer for layer in layers.layers}
    assert {"guards", "bytecode", "aot", "inductor", "wrapper", "launches", "kernels"} <= set(
        by_name
    )
    assert by_name["launches"].us > 1
    kernels = by_name["kernels"]
    assert kernels.device_us is not None
    assert 1 < kernels.device_us < layers.whole_us
    assert kernels.us <= kernels.device_us


def test_the_host_waits_for_large_kernels() -> None:
    model = network(4096).eval().requires_grad_(False)
    report = studied(model, torch.randn(4096, 4096, device="cuda"), Variant())
    (layers,) = report.layers
    kernels = next(layer for layer in layers.layers if layer.kind == "kernels")
    assert kernels.us > 0.7 * layers.whole_us, layers
    assert layers.sum_us == pytest.approx(layers.whole_us, rel=0.1)


def test_cuda_graphs_are_replayed() -> None:
    model = network(64).eval().requires_grad_(False)
    x = torch.randn(8, 64, device="cuda")
    report = studied(model, x, Variant(mode="reduce-overhead"))
    (layers,) = report.layers
    kinds = [layer.kind for layer in layers.layers]
    assert "wrapper" not in kinds
    assert "launches" in kinds
    assert any(layer.device_us for layer in layers.layers if layer.kind == "kernels"), layers


def test_training() -> None:
    model = network(64)
    report = studied(model, torch.randn(8, 64, device="cuda"), Variant())
    forward, backward = report.layers
    assert (forward.direction, backward.direction) == ("forward", "backward")
    for layers in (forward, backward):
        assert layers.whole_us > 0
        assert {"aot", "inductor", "wrapper", "launches", "kernels"} <= {
            layer.kind for layer in layers.layers
        }
    assert all(parameter.grad is None for parameter in model.parameters())
