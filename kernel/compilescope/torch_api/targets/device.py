"""Makes torch and Triton describe a GPU that this machine lacks.

Use it in a separate process: the replacements are permanent. It must run before Dynamo and Inductor
are imported, since both read functions of ``torch.cuda`` and the versions of ``torch.version`` at
import.

Relies on ``torch.version`` (cuda, hip), functions of ``torch.cuda`` and ``torch._C``
(`_RETURN_VALUES`, `_MISSING`), and Triton's own hook for another driver
(``triton.runtime.driver.set_active``); the same from 2.11 to 2.15.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from ...report.devices import Build, Device

CUDA_VERSION = "13.0"
"""The version of torch's default wheels; used if this build has none."""
HIP_VERSION = "7.1.0"


def pretend(device: Device) -> None:
    """Makes this process treat ``device`` as its only GPU."""
    early = {"torch._dynamo", "torch._inductor"} & set(sys.modules)
    if early:
        raise AssertionError(f"loaded before the device was there: {', '.join(sorted(early))}")
    build = device.build
    if build is None:
        raise AssertionError(f"{device.name} is no target")
    _say_versions(build)
    _describe(device, build)
    _drive_triton(device, build)


def torch_name(device: Device) -> str:
    """The result of ``torch.cuda.get_device_name()`` there: some of torch's rules use it."""
    if not device.torch_names:
        return device.name
    # The first of several spellings, without a suffix that differs by partner.
    return re.sub(r"\(([^|)]*)[^)]*\)", r"\1", device.torch_names[0]).replace(".*", "")


def capability(build: Build) -> tuple[int, int]:
    """The compute capability as torch reports it; 9.4 for ``gfx942``, 10.3 for ``gfx1030``."""
    if build.backend == "cuda":
        return divmod(int(build.arch), 10)
    digits = build.arch.removeprefix("gfx")
    # Major in decimal, minor and stepping one hexadecimal digit each.
    return int(digits[:-2]), int(digits[-2], 16)


def _say_versions(build: Build) -> None:
    versions: Any = torch.version
    if build.backend == "hip":
        versions.cuda, versions.hip = None, versions.hip or HIP_VERSION
    else:
        versions.cuda, versions.hip = versions.cuda or CUDA_VERSION, None


def _describe(device: Device, build: Build) -> None:
    properties = _properties(device, build)
    cuda: Any = torch.cuda
    for name, value in _RETURN_VALUES.items():
        setattr(cuda, name, _returning(value))
    private: Any = torch._C
    for name, value in _MISSING.items():
        if not hasattr(private, name):
            setattr(private, name, _returning(value))
    cuda.get_device_properties = _returning(properties)
    cuda._get_device_properties = _returning(properties)


def _returning(value: Any) -> Callable[..., Any]:
    """A separate function for each name: Dynamo's rules look up the function object."""
    return lambda *args, **kwargs: value


def _properties(device: Device, build: Build) -> SimpleNamespace:
    major, minor = capability(build)
    return SimpleNamespace(
        name=torch_name(device),
        major=major,
        minor=minor,
        multi_processor_count=build.multiprocessors,
        regs_per_multiprocessor=build.registers_per_multiprocessor,
        max_threads_per_multi_processor=build.threads_per_multiprocessor,
        max_threads_per_block=build.threads_per_block,
        warp_size=build.warp_size,
        total_memory=build.memory_bytes,
        shared_memory_per_block=48 * 2**10 if build.backend == "cuda" else 64 * 2**10,
        shared_memory_per_block_optin=build.shared_per_block_bytes,
        shared_memory_per_multiprocessor=build.shared_per_multiprocessor_bytes,
        L2_cache_size=build.l2_bytes,
        gcnArchName=build.arch if build.backend == "hip" else "",
        is_integrated=0,
        is_multi_gpu_board=0,
    )


_STATE = torch.zeros(16, dtype=torch.uint8)
"""The generator's state: Dynamo saves it while it traces, and draws no random numbers."""

_RETURN_VALUES: dict[str, Any] = {
    "is_available": True,
    "device_count": 1,
    "current_device": 0,
    "get_rng_state": _STATE,
    "get_rng_state_all": [_STATE],
    "set_rng_state": None,
    "set_rng_state_all": None,
    "init": None,
    "_lazy_init": None,
    "synchronize": None,
    "empty_cache": None,
    "set_device": None,
    "_exchange_device": 0,
    "_maybe_exchange_device": 0,
    "memory_allocated": 0,
    "is_current_stream_capturing": False,
}
"""Results of functions of ``torch.cuda`` for the device, by name."""

_MISSING: dict[str, Any] = {"_cuda_cudaCachingAllocator_is_enabled": True}
"""Results of functions of ``torch._C`` that a CPU build lacks, by name: CUDA graphs call them."""


def _drive_triton(device: Device, build: Build) -> None:
    from triton.backends.compiler import GPUTarget
    from triton.backends.driver import DriverBase
    from triton.runtime import driver

    arch: int | str = int(build.arch) if build.backend == "cuda" else build.arch
    target = GPUTarget(build.backend, arch, build.warp_size)
    # Triton computes the bandwidth as twice the clock, in kHz, times the bus width, in bits.
    clock_khz = device.bandwidth_bytes_per_s / 2 / 1e3
    properties = {
        "max_shared_mem": build.shared_per_block_bytes,
        "max_num_regs": build.registers_per_multiprocessor,
        "multiprocessor_count": build.multiprocessors,
        "warpSize": build.warp_size,
        "mem_clock_rate": clock_khz,
        "mem_bus_width": 8,
    }

    class Driver(DriverBase):  # type: ignore[misc]  # Triton is not typed
        """Triton's driver for the device: describes it, and runs nothing."""

        utils = SimpleNamespace(get_device_properties=lambda device: properties)

        @classmethod
        def is_active(cls) -> bool:
            return False

        def get_current_target(self) -> Any:
            return target

        def get_active_torch_device(self) -> Any:
            return torch.device("cuda", 0)

        def get_device_interface(self) -> Any:
            return torch.cuda

        def get_current_device(self) -> int:
            return 0

        def get_benchmarker(self) -> Any:
            raise RuntimeError("There is no device to measure on.")

        def map_python_to_cpp_type(self, ty: str) -> str:
            raise RuntimeError("There is no device to launch on.")

    driver.set_active(Driver())
