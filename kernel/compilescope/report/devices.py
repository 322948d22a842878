"""A table of devices with their vendors' specifications: plain data, one struct per device.

Every figure of a device is from the document that its `source` names. Rates are dense, without
structured sparsity; if a vendor gives only the sparse rate, half of it is used. The rate of a
matrix product is for accumulation in float32, which is what torch asks for.
"""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from .problem import Struct


class Source(Struct, frozen=True):  # type: ignore[misc]  # msgspec allows it
    """A vendor's document."""

    title: str
    date: str
    """The date of the document: a year, or a year and a month."""


class Build(Struct, frozen=True, kw_only=True):  # type: ignore[misc]
    """The properties of a GPU on which generated code, its resources and its occupancy depend.

    Registers are of 32 bits. "A multiprocessor" is a compute unit on AMD. The size of the
    last-level cache is the driver's, if the vendor's document has none or another.
    """

    backend: Literal["cuda", "hip"]
    """``cuda`` for NVIDIA's, ``hip`` for AMD's."""
    arch: str
    """As Triton names it: ``90`` (the compute capability, times ten), ``gfx942``."""
    warp_size: int
    multiprocessors: int
    registers_per_multiprocessor: int
    threads_per_multiprocessor: int
    threads_per_block: int
    blocks_per_multiprocessor: int
    shared_per_multiprocessor_bytes: int
    shared_per_block_bytes: int
    """The maximum that a block can opt in to."""
    l2_bytes: int
    memory_bytes: int
    source: Source


def arch_name(build: Build) -> str:
    """Return an architecture's name in its own tools: ``sm_90``, ``gfx942``."""
    return f"sm_{build.arch}" if build.backend == "cuda" else build.arch


class Device(Struct, frozen=True, kw_only=True):  # type: ignore[misc]
    """The peak rates of a device."""

    name: str
    """Its name, as displayed."""
    target: str = ""
    """Its name as a target: ``h100``; empty if it cannot be a target."""
    build: Build | None = None
    """What generated code depends on; None if it cannot be a target."""
    torch_names: tuple[str, ...]
    """Regular expressions; one matches all of ``torch.cuda.get_device_name()``. A slice of a device
    (MIG) has another name and matches none, because its peak rates are lower."""
    bandwidth_bytes_per_s: float
    """Between its memory and its processors."""
    products: dict[str, float]
    """dtype → operations a second in matrix products; a multiply-add counts as two. ``tf32`` is
    float32 rounded on the way into tensor cores, ``float8`` any of its kinds."""
    vector: dict[str, float] = {}
    """dtype → operations a second of everything else: outside of tensor or matrix cores."""
    source: Source
    """The document that the figures are from."""


_A100 = Source("NVIDIA A100 Tensor Core GPU, datasheet", "2021-06")
_H100 = Source("NVIDIA H100 Tensor Core GPU, datasheet", "2023")
_H200 = Source("NVIDIA H200 Tensor Core GPU, datasheet", "2024")
_BLACKWELL = Source("NVIDIA Blackwell Architecture Technical Brief, HGX B200", "2024")
_L4 = Source("NVIDIA L4 Tensor Core GPU, datasheet", "2023")
_ADA = Source("NVIDIA Ada GPU Architecture, whitepaper", "2022")
_RTX_BLACKWELL = Source("NVIDIA RTX Blackwell GPU Architecture, whitepaper", "2025")
_MI300X = Source("AMD Instinct MI300X Accelerator, data sheet", "2023")

_CUDA_LIMITS = "CUDA C++ Programming Guide 13.0, technical specifications per compute capability"
_A100_CHIP = Source(f"NVIDIA A100 Tensor Core GPU Architecture, whitepaper; {_CUDA_LIMITS}", "2025")
_H100_CHIP = Source(f"NVIDIA H100 Tensor Core GPU Architecture, whitepaper; {_CUDA_LIMITS}", "2025")
_H200_CHIP = Source(f"NVIDIA H200 Tensor Core GPU, datasheet; {_CUDA_LIMITS}", "2025")
_BLACKWELL_CHIP = Source(
    f"NVIDIA Blackwell Tuning Guide 13.0; HGX B200, datasheet; {_CUDA_LIMITS}", "2025"
)
_ADA_CHIP = Source(f"NVIDIA Ada GPU Architecture, whitepaper; {_CUDA_LIMITS}", "2025")
_RTX_BLACKWELL_CHIP = Source(
    f"NVIDIA RTX Blackwell GPU Architecture, whitepaper; {_CUDA_LIMITS}", "2025"
)
_CDNA3_CHIP = Source("AMD CDNA 3 Architecture, white paper; Instinct MI300 ISA guide", "2024")

_T = 1e12


def _tera(**rates: float) -> dict[str, float]:
    return {name: rate * _T for name, rate in rates.items()}


_A100_PRODUCTS = _tera(float64=19.5, float32=19.5, tf32=156, float16=312, bfloat16=312, int8=624)
_A100_VECTOR = _tera(float64=9.7, float32=19.5)
_HOPPER_PRODUCTS = _tera(
    float64=67, float32=67, tf32=494.5, float16=989.5, bfloat16=989.5, float8=1979, int8=1979
)
_HOPPER_VECTOR = _tera(float64=34, float32=67)
_HOPPER_NVL_PRODUCTS = _tera(
    float64=60, float32=60, tf32=417.5, float16=835.5, bfloat16=835.5, float8=1670.5, int8=1670.5
)
_HOPPER_NVL_VECTOR = _tera(float64=30, float32=60)

_GIB = 2**30

_A100_BUILD = Build(
    backend="cuda",
    arch="80",
    warp_size=32,
    multiprocessors=108,
    registers_per_multiprocessor=65_536,
    threads_per_multiprocessor=2048,
    threads_per_block=1024,
    blocks_per_multiprocessor=32,
    shared_per_multiprocessor_bytes=164 * 2**10,
    shared_per_block_bytes=163 * 2**10,
    l2_bytes=40 * 2**20,
    memory_bytes=80 * _GIB,
    source=_A100_CHIP,
)
_H100_BUILD = msgspec.structs.replace(
    _A100_BUILD,
    arch="90",
    multiprocessors=132,
    shared_per_multiprocessor_bytes=228 * 2**10,
    shared_per_block_bytes=227 * 2**10,
    l2_bytes=50 * 2**20,
    source=_H100_CHIP,
)
_H200_BUILD = msgspec.structs.replace(
    _H100_BUILD, l2_bytes=60 * 2**20, memory_bytes=141 * _GIB, source=_H200_CHIP
)
_B200_BUILD = msgspec.structs.replace(
    _H100_BUILD,
    arch="100",
    multiprocessors=148,
    l2_bytes=253 * 2**19,
    memory_bytes=180 * _GIB,
    source=_BLACKWELL_CHIP,
)
_RTX_4090_BUILD = Build(
    backend="cuda",
    arch="89",
    warp_size=32,
    multiprocessors=128,
    registers_per_multiprocessor=65_536,
    threads_per_multiprocessor=1536,
    threads_per_block=1024,
    blocks_per_multiprocessor=24,
    shared_per_multiprocessor_bytes=100 * 2**10,
    shared_per_block_bytes=99 * 2**10,
    l2_bytes=72 * 2**20,
    memory_bytes=24 * _GIB,
    source=_ADA_CHIP,
)
_L4_BUILD = msgspec.structs.replace(_RTX_4090_BUILD, multiprocessors=58, l2_bytes=48 * 2**20)
_RTX_5090_BUILD = msgspec.structs.replace(
    _RTX_4090_BUILD,
    arch="120",
    multiprocessors=170,
    l2_bytes=96 * 2**20,
    memory_bytes=32 * _GIB,
    source=_RTX_BLACKWELL_CHIP,
)
_MI300X_BUILD = Build(
    backend="hip",
    arch="gfx942",
    warp_size=64,
    multiprocessors=304,
    registers_per_multiprocessor=131_072,
    threads_per_multiprocessor=2048,
    threads_per_block=1024,
    blocks_per_multiprocessor=16,
    shared_per_multiprocessor_bytes=64 * 2**10,
    shared_per_block_bytes=64 * 2**10,
    # Per die, of which it has eight: the driver and torch report this figure.
    l2_bytes=4 * 2**20,
    memory_bytes=192 * _GIB,
    source=_CDNA3_CHIP,
)

DEVICES: tuple[Device, ...] = (
    Device(
        name="A100 40 GB",
        torch_names=("NVIDIA A100-(SXM4|PCIE)-40GB", "A100-(SXM4|PCIE)-40GB"),
        bandwidth_bytes_per_s=1.555e12,
        products=_A100_PRODUCTS,
        vector=_A100_VECTOR,
        source=_A100,
    ),
    Device(
        name="A100 SXM 80 GB",
        target="a100",
        build=_A100_BUILD,
        torch_names=("NVIDIA A100-SXM4-80GB",),
        bandwidth_bytes_per_s=2.039e12,
        products=_A100_PRODUCTS,
        vector=_A100_VECTOR,
        source=_A100,
    ),
    Device(
        name="A100 PCIe 80 GB",
        torch_names=("NVIDIA A100 80GB PCIe",),
        bandwidth_bytes_per_s=1.935e12,
        products=_A100_PRODUCTS,
        vector=_A100_VECTOR,
        source=_A100,
    ),
    Device(
        name="H100 SXM",
        target="h100",
        build=_H100_BUILD,
        torch_names=("NVIDIA H100 80GB HBM3",),
        bandwidth_bytes_per_s=3.35e12,
        products=_HOPPER_PRODUCTS,
        vector=_HOPPER_VECTOR,
        source=_H100,
    ),
    Device(
        name="H100 NVL",
        torch_names=("NVIDIA H100 NVL",),
        bandwidth_bytes_per_s=3.9e12,
        products=_HOPPER_NVL_PRODUCTS,
        vector=_HOPPER_NVL_VECTOR,
        source=_H100,
    ),
    Device(
        name="H100 PCIe",
        torch_names=("NVIDIA H100 PCIe",),
        bandwidth_bytes_per_s=2.0e12,
        products=_tera(
            float64=51, float32=51, tf32=378, float16=756.5, bfloat16=756.5, float8=1513, int8=1513
        ),
        vector=_tera(float64=26, float32=51),
        source=Source("NVIDIA H100 Tensor Core GPU, datasheet (SXM and PCIe)", "2022"),
    ),
    Device(
        name="H200 SXM",
        target="h200",
        build=_H200_BUILD,
        torch_names=("NVIDIA H200",),
        bandwidth_bytes_per_s=4.8e12,
        products=_HOPPER_PRODUCTS,
        vector=_HOPPER_VECTOR,
        source=_H200,
    ),
    Device(
        name="H200 NVL",
        torch_names=("NVIDIA H200 NVL",),
        bandwidth_bytes_per_s=4.8e12,
        products=_HOPPER_NVL_PRODUCTS,
        vector=_HOPPER_NVL_VECTOR,
        source=_H200,
    ),
    Device(
        name="B200",
        target="b200",
        build=_B200_BUILD,
        torch_names=("NVIDIA B200",),
        bandwidth_bytes_per_s=8.0e12,
        products=_tera(
            float64=40, float32=80, tf32=1100, float16=2250, bfloat16=2250, float8=4500, int8=4500
        ),
        vector=_tera(float64=40, float32=80),
        source=_BLACKWELL,
    ),
    Device(
        name="L4",
        target="l4",
        build=_L4_BUILD,
        torch_names=("NVIDIA L4",),
        bandwidth_bytes_per_s=0.3e12,
        products=_tera(float32=30.3, tf32=60, float16=121, bfloat16=121, float8=242.5, int8=242.5),
        vector=_tera(float32=30.3),
        source=_L4,
    ),
    Device(
        name="GeForce RTX 4090",
        target="rtx4090",
        build=_RTX_4090_BUILD,
        torch_names=("NVIDIA GeForce RTX 4090",),
        bandwidth_bytes_per_s=1.008e12,
        products=_tera(
            float32=82.6, tf32=82.6, float16=165.2, bfloat16=165.2, float8=330.3, int8=660.6
        ),
        vector=_tera(float32=82.6),
        source=_ADA,
    ),
    Device(
        name="GeForce RTX 5090",
        target="rtx5090",
        build=_RTX_5090_BUILD,
        torch_names=("NVIDIA GeForce RTX 5090",),
        bandwidth_bytes_per_s=1.792e12,
        products=_tera(
            float32=104.8, tf32=104.8, float16=209.5, bfloat16=209.5, float8=419, int8=838
        ),
        vector=_tera(float32=104.8),
        source=_RTX_BLACKWELL,
    ),
    Device(
        name="Instinct MI300X",
        target="mi300x",
        build=_MI300X_BUILD,
        torch_names=("AMD Instinct MI300X.*",),
        bandwidth_bytes_per_s=5.3e12,
        products=_tera(
            float64=163.4,
            float32=163.4,
            tf32=653.7,
            float16=1307.4,
            bfloat16=1307.4,
            float8=2614.9,
            int8=2614.9,
        ),
        vector=_tera(float64=81.7, float32=163.4),
        source=_MI300X,
    ),
)


def find(torch_name: str) -> Device | None:
    """The device with this name in torch; None if it is not in the table."""
    for device in DEVICES:
        if any(re.fullmatch(pattern, torch_name) for pattern in device.torch_names):
            return device
    return None
