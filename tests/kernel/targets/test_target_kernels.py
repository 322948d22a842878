"""Kernels that a wrapper cannot be written without: the configuration that has room on a device."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from compilescope.report import devices
from compilescope.torch_api.targets import kernels
from torch._inductor import codecache

pytest.importorskip("triton")

BUILD = next(device for device in devices.DEVICES if device.target == "h100").build


class Tuner:
    """Has two configurations; stands for torch's, which needs a kernel."""

    def __init__(self, *shared: int) -> None:
        self.configs = [
            SimpleNamespace(kwargs={"XBLOCK": 2**number}, num_warps=4, num_stages=1, shared=bytes_)
            for number, bytes_ in enumerate(shared)
        ]
        self.saved: list[Any] = []

    def _precompile_config(self, config: Any) -> Any:
        kernel = SimpleNamespace(metadata=SimpleNamespace(shared=config.shared))
        return SimpleNamespace(config=config, kernel=kernel, make_launcher=lambda: config)

    def save_gpu_kernel(self, _: int, launcher: Any) -> None:
        self.saved.append(launcher)


def compiled(tuner: Tuner, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    calls: list[dict[str, str]] = []
    monkeypatch.setattr(codecache, "_load_triton_kernel_from_source", lambda name, source: tuner)
    assert BUILD is not None
    kernels._compile("kernel", "", BUILD, lambda **said: calls.append(said))
    return calls


def test_the_first_configuration_that_has_room_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    tuner = Tuner(10**9, 1000, 10)
    (said,) = compiled(tuner, monkeypatch)
    assert tuner.saved == [tuner.configs[1]]
    assert "XBLOCK=2" in said["chosen"]
    assert "all 3" in said["instead"]


def test_where_none_has_room_nothing_is_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    tuner = Tuner(10**9, 10**8)
    with pytest.raises(RuntimeError, match="None of the 2 launch configurations of kernel"):
        compiled(tuner, monkeypatch)
    assert tuner.saved == []
