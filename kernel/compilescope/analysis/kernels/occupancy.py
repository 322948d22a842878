"""How many blocks of a kernel are resident on a multiprocessor, and what limits them.

The rules are those of CUDA's occupancy calculator for compute capabilities from 8.0 on, and those
of LLVM's AMDGPU backend for CDNA.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...report.devices import Build

_PARTITIONS = 4
"""Parts of a multiprocessor that have registers of their own; a block's warps are spread over them.
SIMDs, on AMD."""

_WARP_REGISTERS = 256
"""NVIDIA: the allocation unit of a warp's registers."""
_SHARED_UNIT, _SHARED_RESERVED = 128, 1024
"""NVIDIA: the allocation unit of shared memory, and what the driver reserves per block (bytes)."""
_MAX_REGISTERS = 255

_TENSOR_COLUMNS = 512
"""NVIDIA: columns of a multiprocessor's tensor memory, from compute capability 10.0 on."""

_VECTOR_UNIT = 8
"""AMD: the allocation unit of a thread's vector registers."""
_LDS_UNIT = 512
_SCALAR_WAVES = ((80, 10), (88, 9), (100, 8), (112, 7))
"""AMD: maximum number of scalar registers → waves that a SIMD can hold."""


@dataclass(frozen=True)
class Occupancy:
    """How a kernel fills a multiprocessor."""

    blocks: int
    """That a multiprocessor holds at a time; 0: it cannot be launched."""
    share: float
    """Of the warps that a multiprocessor can hold, from 0 to 1."""
    limit: str
    """What keeps it from holding more: threads, registers, shared memory, tensor memory,
    blocks."""


def occupancy(
    build: Build,
    *,
    registers: int,
    shared_bytes: int,
    warps: int,
    scalar_registers: int = 0,
    tensor_columns: int = 0,
) -> Occupancy:
    """The occupancy of a kernel.

    Parameters
    ----------
    registers, scalar_registers
        A thread's; a wave's scalar ones, on AMD.
    shared_bytes, warps, tensor_columns
        A block's; the last are of tensor memory.
    """
    held = build.threads_per_multiprocessor // build.warp_size
    # Of equal limits the first is named: threads, if the multiprocessor is full.
    limits = {"threads": held // warps if warps * build.warp_size <= build.threads_per_block else 0}
    if build.backend == "hip":
        limits["registers"] = _amd_registers(build, registers, scalar_registers, warps)
        limits["shared memory"] = _amd_shared(build, shared_bytes)
        # A block of one wave needs no barrier, and the number of barriers is what limits blocks.
        limits["blocks"] = build.blocks_per_multiprocessor if warps > 1 else held
    else:
        limits["registers"] = _nvidia_registers(build, registers, warps)
        limits["shared memory"] = _nvidia_shared(build, shared_bytes)
        limits["blocks"] = build.blocks_per_multiprocessor
        if tensor_columns:
            limits["tensor memory"] = _TENSOR_COLUMNS // tensor_columns
    limit = min(limits, key=limits.__getitem__)
    blocks = limits[limit]
    return Occupancy(blocks, blocks * warps / held, limit)


def _nvidia_registers(build: Build, registers: int, warps: int) -> int:
    a_warp = _up(registers * build.warp_size, _WARP_REGISTERS)
    total = build.registers_per_multiprocessor
    if registers > _MAX_REGISTERS or a_warp * _up(warps, _PARTITIONS) > total:
        return 0
    return total // _PARTITIONS // a_warp * _PARTITIONS // warps


def _nvidia_shared(build: Build, shared_bytes: int) -> int:
    if shared_bytes > build.shared_per_block_bytes:
        return 0
    a_block = _up(shared_bytes + _SHARED_RESERVED, _SHARED_UNIT)
    return build.shared_per_multiprocessor_bytes // a_block


def _amd_registers(build: Build, registers: int, scalar_registers: int, warps: int) -> int:
    lanes = build.registers_per_multiprocessor // _PARTITIONS // build.warp_size
    most = build.threads_per_multiprocessor // build.warp_size // _PARTITIONS
    waves = min(most, lanes // _up(max(registers, 1), _VECTOR_UNIT))
    for count, fit in _SCALAR_WAVES:
        if scalar_registers <= count:
            waves = min(waves, fit)
            break
    return waves * _PARTITIONS // warps


def _amd_shared(build: Build, shared_bytes: int) -> int:
    if shared_bytes > build.shared_per_block_bytes:
        return 0
    return build.shared_per_multiprocessor_bytes // _up(max(shared_bytes, 1), _LDS_UNIT)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
