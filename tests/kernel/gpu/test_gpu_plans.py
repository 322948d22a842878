"""The memory that a wrapper's plan says it takes, against what the GPU's allocator counts."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch

from .. import plan_subjects

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def test_peak_is_what_the_allocator_counts() -> None:
    x, w = torch.randn(2048, 1024, device="cuda"), torch.randn(1024, 1024, device="cuda")
    square = torch.randn(1024, 1024, device="cuda")
    for fn, args in ((plan_subjects.chain, (square,)), (plan_subjects.normed, (x, w))):
        report = cs.inspect(fn, args, variants=("python",), run=False)
        (memory,) = report.variants[0].compilations[0].memory
        compiled = torch.compile(fn)
        for _ in range(3):  # kernels are tuned and libraries take their workspaces
            compiled(*args)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_stats()["requested_bytes.all.current"]
        result = compiled(*args)
        torch.cuda.synchronize()
        peak = torch.cuda.memory_stats()["requested_bytes.all.peak"] - before
        del result
        assert memory.peak_bytes == pytest.approx(peak, rel=0.01)
        assert memory.peak_bytes < memory.peak_without_reuse_bytes


def test_tiles_are_those_that_torch_chose() -> None:
    x = torch.randn(512, 1024, device="cuda")
    w = torch.randn(1024, 1024, device="cuda")
    report = cs.inspect(plan_subjects.normed, (x, w), variants=("python",))
    kernels = report.variants[0].compilations[0].kernels
    triton = [kernel for kernel in kernels if kernel.language == "triton"]
    assert triton
    for kernel in triton:
        assert kernel.tiling is not None
        assert kernel.tiling.extents
        assert kernel.tiling.tile
        assert kernel.fusion is not None
        # The last stage of the split sum adds up partial results, and fuses nothing.
        assert kernel.fusion.saved_bytes or kernel is triton[-1]
