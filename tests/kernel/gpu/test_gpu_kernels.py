"""Each kernel's time on a real GPU, of both wrappers and of a CUDA graph."""

from __future__ import annotations

import compilescope as cs
import pytest
import torch
from compilescope.report import Report, devices

from ..studies.test_kernel_times import own
from .mlp_block import Block

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.fixture(scope="module")
def inference() -> Report:
    model = Block(1024).cuda().eval().requires_grad_(False)
    x = torch.randn(4096, 1024, device="cuda")
    report = cs.inspect(model, (x,), variants=("python", "cpp", "reduce-overhead"))
    return cs.study(report, "kernels", variants=("python", "cpp", "reduce-overhead"))


@pytest.mark.parametrize("name", ["python", "cpp", "reduce-overhead"])
def test_every_launch_is_timed_on_the_device(inference: Report, name: str) -> None:
    variant = inference.variant(name)
    assert variant.studied == ["kernels"], variant.problems
    launches = own(variant)
    assert {kernel.language for kernel, _ in launches} == {"triton", "extern"}
    for kernel, launch in launches:
        time = launch.time
        assert time is not None, (kernel.name, kernel.absent)
        assert time.device == "cuda:0"
        assert 1 < time.us < 1e5
        assert time.calls >= 10
        assert ("replay" in time.how) == (name == "reduce-overhead")
        if kernel.language == "triton":
            assert time.bandwidth_share is not None
            # 16 to 64 MiB a kernel: at most what the second-level cache gives.
            assert 0.05 < time.bandwidth_share < 3
        else:
            assert time.compute_share is not None
            assert 0.05 < time.compute_share < 1.05


def test_the_wrappers_agree_on_the_kernels(inference: Report) -> None:
    times = {
        name: [launch.time.us for _, launch in own(inference.variant(name)) if launch.time]
        for name in ("python", "cpp", "reduce-overhead")
    }
    assert len({len(time) for time in times.values()}) == 1
    for name in ("cpp", "reduce-overhead"):
        assert sum(times[name]) == pytest.approx(sum(times["python"]), rel=0.2)


def test_kernels_take_no_longer_than_the_call(inference: Report) -> None:
    for name in ("python", "cpp", "reduce-overhead"):
        variant = inference.variant(name)
        assert variant.timing is not None
        spent = sum(launch.time.us for _, launch in own(variant) if launch.time is not None)
        assert spent <= 1.2 * variant.timing.interval_us[1]


def test_the_device_is_looked_up(inference: Report) -> None:
    (peaks,) = [peak for peak in inference.peaks if peak.device == "cuda:0"]
    known = devices.find(torch.cuda.get_device_name(0))
    assert peaks.how == ("specified" if known else "measured")


def test_a_backward_is_timed_too() -> None:
    model = Block(256).cuda()
    x = torch.randn(512, 256, device="cuda")
    report = cs.inspect(model, (x,), variants=("python",))
    cs.study(report, "kernels", variants=("python",))
    launches = own(report.variant("python"))
    assert {kernel.direction for kernel, _ in launches} == {"forward", "backward"}
    assert all(launch.time is not None for _, launch in launches), [
        (kernel.name, kernel.absent) for kernel, launch in launches if launch.time is None
    ]
    assert all(parameter.grad is None for parameter in model.parameters())
