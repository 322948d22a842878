"""Sweeps and startups on a real GPU. Skipped where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import compilescope as cs
import pytest
import torch
from torch import nn

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def make() -> tuple[Any, ...]:
    model = nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.LayerNorm(512)).cuda().half().eval()
    return model.requires_grad_(False), (torch.randn(256, 512, device="cuda").half(),)


def test_cells_are_measured_on_the_gpu(tmp_path: Path) -> None:
    variants = {"eager": cs.Variant(backend=None), "graphs": cs.Variant(mode="reduce-overhead")}
    result = cs.sweep(factory=make, variants=variants, seconds=0.5, folder=tmp_path, workers=2)
    for cell in result.cells:
        assert cell.state == "done", cell.problem
        assert cell.timing is not None
        assert cell.timing.device == "cuda"
        assert cell.timing.device_us
        assert cell.device.startswith(f"cuda:0 {torch.cuda.get_device_name(0)}")
        assert cell.memory_bytes is not None
        # The output alone is 256 KiB.
        assert 2**18 <= cell.memory_bytes < 2**30
    assert result.cells[1].accurate is not False
    assert result.cells[1].compile_time is not None
    assert result.cells[1].compile_time.parts.get("triton", 0) > 0


def test_memory_that_the_gpu_does_not_have_is_a_row_that_says_so(tmp_path: Path) -> None:
    def too_much(x: torch.Tensor) -> torch.Tensor:
        return torch.empty(1 << 46, dtype=torch.uint8, device="cuda") + x

    x = torch.ones(1, dtype=torch.uint8, device="cuda")
    variants = {"eager": cs.Variant(backend=None)}
    (cell,) = cs.sweep(too_much, (x,), variants=variants, folder=tmp_path).cells
    assert cell.state == "memory", cell.problem


def test_a_first_call_in_empty_caches_and_with_warm_ones() -> None:
    model, args = make()
    report = cs.inspect(model, args, variants="python", run=False)
    cs.study(report, "startups")
    cold, warm = report.variant("python").startups
    assert (cold.cache, warm.cache) == ("cold", "warm")
    for item in (cold, warm):
        assert item.problem is None
        assert item.imports_s
    assert cold.first_call_s is not None
    assert warm.first_call_s is not None
    assert warm.first_call_s < cold.first_call_s
