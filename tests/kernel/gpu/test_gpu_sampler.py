"""The sampler on a real GPU. Skipped where there is none."""

from __future__ import annotations

import statistics

import pytest
import torch
from compilescope.measure.sampler import Sampler
from compilescope.measure.stopwatch import Call
from compilescope.report import Timing

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


def sampled(call: Call, **calls: Call) -> Sampler:
    sampler = Sampler({"eager": call, **calls}, device="cuda")
    for name in sampler.names:
        sampler.warm_up(name, 1.0)
    for _ in range(60):
        sampler.round()
    return sampler


@pytest.fixture(scope="module")
def add() -> Call:
    """One long kernel, longer than what clearing the L2 cache could change."""
    x = torch.randn(2**28, device="cuda")
    y = torch.empty_like(x)
    return lambda: torch.add(x, 1.0, out=y)


def test_the_device_s_time_is_that_of_do_bench(add: Call) -> None:
    from triton.testing import do_bench

    ratios = []
    for _ in range(7):
        device_us = sampled(add).timing("eager").device_us
        assert device_us is not None
        ratios.append(device_us / (do_bench(add, rep=200, return_mode="median") * 1000))
    # Other processes may use the device meanwhile, now more, now less.
    assert statistics.median(ratios) == pytest.approx(1, abs=0.15)


def times(timing: Timing) -> tuple[float, float, float]:
    assert timing.device == "cuda"
    assert timing.host_us is not None
    assert timing.device_us is not None
    return timing.median_us, timing.device_us, timing.host_us


def test_a_long_kernel_keeps_the_device_busy_and_not_the_host(add: Call) -> None:
    wall, device, host = times(sampled(add).timing("eager"))
    assert host < 0.5 * device
    # Other processes may use the device too.
    assert 0.5 * wall < device <= wall


def test_small_kernels_keep_the_host_busy() -> None:
    x = torch.randn(8, device="cuda")

    def call() -> None:
        for _ in range(50):
            x.add_(1.0)

    wall, device, host = times(sampled(call).timing("eager"))
    assert device <= wall
    assert host > 0.8 * wall


def test_a_difference_on_the_device_is_found(add: Call) -> None:
    def half() -> object:
        return torch.add(x[: 2**27], 1.0, out=y[: 2**27])

    x = torch.randn(2**28, device="cuda")
    y = torch.empty_like(x)
    sampler = sampled(add, half=half, same=add)
    timing = sampler.timing("half")
    assert timing.differs
    assert timing.ratio == pytest.approx(2, rel=0.1)
    assert sampler.timing("same").ratio == pytest.approx(1, rel=0.02)
