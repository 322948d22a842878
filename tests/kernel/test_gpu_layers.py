"""Where one call's time goes on a real GPU. Skipped where there is none."""

from __future__ import annotations

import pytest
import torch
from compilescope.compiler.callees import functions_of
from compilescope.compiler.progress import Monitor
from compilescope.compiler.state import preserved
from compilescope.compiler.studies import STUDIES, Study
from compilescope.compiler.wardrobe import Wardrobe
from compilescope.report import VariantReport
from compilescope.torch_api import workers
from compilescope.torch_api.dynamo import isolated
from compilescope.variant import Variant
from torch import nn

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def study(model: nn.Module, x: torch.Tensor, variant: Variant) -> VariantReport:
    report = VariantReport(name="v", requested=variant, stage="built")
    with preserved(model, (x,)) as snapshot:
        wardrobe = Wardrobe(functions_of(model, (x,)))
        with wardrobe.guarded(), isolated(), workers.borrowed():
            STUDIES["layers"](
                Study(
                    fn=model,
                    args=(x,),
                    kwargs={},
                    report=report,
                    peaks=[],
                    wardrobe=wardrobe,
                    snapshot=snapshot,
                    monitor=Monitor(),
                )
            )
    return report


def network(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)).cuda()


@pytest.mark.parametrize("cpp_wrapper", [False, True], ids=["python", "cpp"])
def test_small_kernels_run_beside_the_host(cpp_wrapper: bool) -> None:
    model = network(64).eval().requires_grad_(False)
    report = study(model, torch.randn(8, 64, device="cuda"), Variant(cpp_wrapper=cpp_wrapper))
    (layers,) = report.layers
    assert layers.device == "cuda"
    assert layers.sum_us == pytest.approx(layers.whole_us, rel=0.3), layers
    found = {one.kind: one for one in layers.layers}
    assert {"guards", "bytecode", "aot", "inductor", "wrapper", "launches", "kernels"} <= set(found)
    assert found["launches"].us > 1
    kernels = found["kernels"]
    assert kernels.device_us is not None
    assert 1 < kernels.device_us < layers.whole_us
    assert kernels.us <= kernels.device_us


def test_the_host_waits_for_large_kernels() -> None:
    model = network(4096).eval().requires_grad_(False)
    report = study(model, torch.randn(4096, 4096, device="cuda"), Variant())
    (layers,) = report.layers
    kernels = next(one for one in layers.layers if one.kind == "kernels")
    assert kernels.us > 0.7 * layers.whole_us, layers
    assert layers.sum_us == pytest.approx(layers.whole_us, rel=0.1)


def test_cuda_graphs_are_replayed() -> None:
    model = network(64).eval().requires_grad_(False)
    x = torch.randn(8, 64, device="cuda")
    report = study(model, x, Variant(mode="reduce-overhead"))
    (layers,) = report.layers
    kinds = [one.kind for one in layers.layers]
    assert "wrapper" not in kinds
    assert "launches" in kinds
    assert any(one.device_us for one in layers.layers if one.kind == "kernels"), layers


def test_training() -> None:
    model = network(64)
    report = study(model, torch.randn(8, 64, device="cuda"), Variant())
    forward, backward = report.layers
    assert (forward.direction, backward.direction) == ("forward", "backward")
    for layers in (forward, backward):
        assert layers.whole_us > 0
        assert {"aot", "inductor", "wrapper", "launches", "kernels"} <= {
            one.kind for one in layers.layers
        }
    assert all(parameter.grad is None for parameter in model.parameters())
