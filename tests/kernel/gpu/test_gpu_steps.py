"""What each step of a wrapper costs the host where kernels run on a GPU."""

from __future__ import annotations

import pytest
import torch

from ..studies.test_steps import VARIANTS
from ..studying import study, unbuilt

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="There is no GPU.")


def normed(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x @ w, (64,)).relu()


@pytest.mark.parametrize("name", list(VARIANTS))
def test_launches_cost_the_host_what_handing_over_takes(name: str) -> None:
    args = (torch.randn(4096, 4096, device="cuda"), torch.randn(4096, 64, device="cuda"))
    report = unbuilt(normed, args, {name: VARIANTS[name]})
    (variant,) = report.variants
    study("steps", normed, args, variant)
    assert variant.absent.get("steps") is None
    (compilation,) = variant.compilations
    (steps,) = compilation.steps
    assert steps.artifact == name
    assert steps.whole_us is not None
    assert steps.sum_us is not None, steps.why
    assert 0.5 < steps.sum_us / steps.whole_us < 2
    assert all(step.us is not None for step in steps.steps)
    kinds = {step.kind for step in steps.steps}
    assert kinds >= {"entry", "stream", "allocation", "call", "launch", "return"}
    # torch 2.11's C++ wrapper checks no inputs.
    assert "check" in kinds or name == "cpp"
    for step in steps.steps:
        if step.kind == "launch":
            assert "only enqueues the kernel" in step.how
