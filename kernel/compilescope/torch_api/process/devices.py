"""The devices of this machine, as torch describes them.

Relies on ``torch.cuda.get_device_properties``, whose names are the same from 2.11 to 2.15; ROCm's
builds of torch use them too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
import torch


class Properties(msgspec.Struct, kw_only=True):
    """The properties of a GPU as torch reports them, named as in `report.devices.Build`."""

    name: str
    backend: Literal["cuda", "hip"]
    arch: str
    warp_size: int
    multiprocessors: int
    registers_per_multiprocessor: int
    threads_per_multiprocessor: int
    threads_per_block: int
    shared_per_multiprocessor_bytes: int
    shared_per_block_bytes: int
    l2_bytes: int
    memory_bytes: int
    bandwidth_bytes_per_s: float
    """Two transfers happen per clock; 0 if torch does not report it."""


def has_gpu() -> bool:
    """Whether torch can use a GPU here. Does not initialize CUDA."""
    built: bool = torch.backends.cuda.is_built()  # type: ignore[no-untyped-call]
    return built and torch.cuda.device_count() > 0


def settle() -> None:
    """Waits for the work on the current GPU, so that an error of it is raised here.

    Kernels run after the call that starts them: their errors surface in any later call.
    """
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()


def waiting_for(devices: Iterable[int]) -> Callable[[], None]:
    """A function that waits for the work on these GPUs; on the current one if none is named."""
    numbers: list[int | None] = [*sorted(devices)] or [None]

    def wait() -> None:
        for number in numbers:
            torch.cuda.synchronize(number)

    return wait


def first_gpu() -> Properties:
    """The first visible GPU. Initializes CUDA."""
    properties: Any = torch.cuda.get_device_properties(0)
    hip = torch.version.hip is not None
    arch = (
        properties.gcnArchName.split(":")[0]
        if hip
        else f"{properties.major * 10 + properties.minor}"
    )
    clock_khz = getattr(properties, "memory_clock_rate", 0)
    bus_bits = getattr(properties, "memory_bus_width", 0)
    return Properties(
        name=properties.name,
        backend="hip" if hip else "cuda",
        arch=arch,
        warp_size=properties.warp_size,
        multiprocessors=properties.multi_processor_count,
        registers_per_multiprocessor=properties.regs_per_multiprocessor,
        threads_per_multiprocessor=properties.max_threads_per_multi_processor,
        threads_per_block=getattr(properties, "max_threads_per_block", 1024),
        shared_per_multiprocessor_bytes=properties.shared_memory_per_multiprocessor,
        shared_per_block_bytes=properties.shared_memory_per_block_optin,
        l2_bytes=properties.L2_cache_size,
        memory_bytes=properties.total_memory,
        bandwidth_bytes_per_s=2.0 * clock_khz * 1e3 * bus_bits / 8,
    )
