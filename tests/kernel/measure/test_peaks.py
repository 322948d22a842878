"""What devices can do at best: looked up where a vendor says it, measured elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from compilescope.analysis.kernels import rates
from compilescope.measure import peaks
from compilescope.report import Peaks, devices
from compilescope.torch_api.process.devices import waiting_for


@pytest.mark.parametrize(
    ("torch_name", "name", "bandwidth", "bfloat16"),
    [
        ("NVIDIA A100-SXM4-80GB", "A100 SXM 80 GB", 2.039e12, 312e12),
        ("NVIDIA H100 80GB HBM3", "H100 SXM", 3.35e12, 989.5e12),
        ("NVIDIA H200", "H200 SXM", 4.8e12, 989.5e12),
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090", 1.008e12, 165.2e12),
        ("AMD Instinct MI300X", "Instinct MI300X", 5.3e12, 1307.4e12),
    ],
)
def test_devices_are_found_by_torchs_name(
    torch_name: str, name: str, bandwidth: float, bfloat16: float
) -> None:
    device = devices.find(torch_name)
    assert device is not None
    assert (device.name, device.bandwidth_bytes_per_s) == (name, bandwidth)
    assert device.products["bfloat16"] == pytest.approx(bfloat16)


def test_a_size_that_has_no_room_does_not_lose_the_smaller_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    least = peaks._WIDTHS[0]
    original = torch.full

    def full(size: tuple[int, int], *args: Any, **options: Any) -> torch.Tensor:
        if size[0] > least:
            raise torch.OutOfMemoryError
        return original(size, *args, **options)

    monkeypatch.setattr(torch, "full", full)
    monkeypatch.setattr(peaks, "_best", lambda *_: 1e-3)
    rate = peaks._products("cpu", torch.float32, lambda: None)
    assert rate == 2 * least**3 / 1e-3
    monkeypatch.setattr(peaks, "_WIDTHS", (2 * least,))
    assert peaks._products("cpu", torch.float32, lambda: None) is None


def test_each_gpu_that_works_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[int | None] = []
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    waiting_for({1, 0})()
    waiting_for(())()
    assert waited == [0, 1, None]


def test_a_part_of_a_device_is_not_the_device() -> None:
    for name in ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "NVIDIA GeForce RTX 4090 Laptop GPU"):
        assert devices.find(name) is None


def test_the_catalog_agrees_with_itself() -> None:
    for device in devices.DEVICES:
        rates = device.products
        assert device.source.title
        assert device.source.date
        assert rates["float16"] == rates["bfloat16"] > rates["float32"]
        assert rates["float16"] >= rates["tf32"]
        assert all(rate <= rates.get(name, rate) for name, rate in device.vector.items())
        plain = [name for name in device.torch_names if "(" not in name and "*" not in name]
        assert all(devices.find(name) is device for name in plain)


def test_the_builds_of_targets_agree_with_themselves() -> None:
    builds = {device.target: device.build for device in devices.DEVICES if device.build is not None}
    wanted = {"a100", "h100", "h200", "b200", "l4", "rtx4090", "rtx5090", "mi300x"}
    assert set(builds) == {device.target for device in devices.DEVICES if device.target} == wanted
    for build in builds.values():
        assert build.source.title
        assert build.source.date
        assert build.threads_per_multiprocessor % build.warp_size == 0
        # At full occupancy a thread has 32, 42 or 64 registers.
        assert build.registers_per_multiprocessor // build.threads_per_multiprocessor in (
            32,
            42,
            64,
        )
        assert build.threads_per_block <= build.threads_per_multiprocessor
        assert build.shared_per_block_bytes <= build.shared_per_multiprocessor_bytes
        assert build.l2_bytes < build.memory_bytes


def test_a_rate_is_that_of_the_units_that_compute() -> None:
    device = devices.find("NVIDIA H100 80GB HBM3")
    assert device is not None
    h100 = rates.specified("cuda:0", device)
    for dtype, product, rate in [
        ("bfloat16", True, 989.5e12),
        ("bfloat16", False, 67e12),
        ("float64", True, 67e12),
        ("float64", False, 34e12),
        ("float32", True, 67e12),
        ("float8_e4m3fn", True, 1979e12),
    ]:
        assert rates.rate_of(h100, dtype, product=product) == pytest.approx(rate)
    assert rates.rate_of(h100, "float32", product=True, tf32=True) == pytest.approx(494.5e12)
    assert rates.rate_of(h100, "int64", product=False) is None


def test_a_cpu_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def again(*_: object) -> Peaks:
        raise AssertionError("it is measured again")

    random = torch.get_rng_state()
    result = peaks.peaks_of("cpu")
    monkeypatch.setattr(peaks, "_measured", again)
    assert peaks.peaks_of("cpu") is not result
    assert peaks.peaks_of("cpu") == result
    assert result.how == "measured"
    assert result.bandwidth_bytes_per_s is not None
    assert 1e8 < result.bandwidth_bytes_per_s < 1e13
    assert set(result.operations_per_s) == {"float32", "float64", "bfloat16", "float16"}
    assert 1e8 < result.operations_per_s["float32"] < 1e15
    assert torch.equal(torch.get_rng_state(), random)


def test_a_peak_that_was_beaten_is_measured_again() -> None:
    low = Peaks(device="cpu", bandwidth_bytes_per_s=1.0, operations_per_s={"float32": 1.0})
    peaks.measured_again(low)
    assert low.operations_per_s["float32"] > 1e8
    high = Peaks(device="cpu", bandwidth_bytes_per_s=1e20, operations_per_s={"float32": 1e20})
    peaks.measured_again(high)
    assert high.operations_per_s["float32"] == 1e20
    assert high.bandwidth_bytes_per_s == 1e20
