"""How many blocks fit on a multiprocessor, and what keeps more from it."""

from __future__ import annotations

import pytest
from compilescope.analysis.kernels.occupancy import occupancy
from compilescope.report import devices

NVIDIA = [
    # target, registers, shared bytes, warps; blocks by cuda_occupancy.h of CUDA 13.1
    ("a100", 32, 0, 4, 16, "threads"),
    ("a100", 33, 0, 4, 12, "registers"),
    ("a100", 255, 0, 8, 1, "registers"),
    ("a100", 16, 0, 1, 32, "blocks"),
    ("a100", 32, 41_000, 4, 3, "shared memory"),
    ("h100", 128, 100_000, 8, 2, "registers"),
    ("h100", 24, 232_448, 4, 1, "shared memory"),
    ("h100", 24, 232_449, 4, 0, "shared memory"),
    ("h100", 96, 0, 32, 0, "registers"),
    ("b200", 64, 1024, 16, 2, "registers"),
    ("rtx4090", 40, 0, 4, 12, "threads"),
    ("rtx4090", 32, 0, 1, 24, "blocks"),
    ("rtx5090", 48, 49_152, 8, 2, "shared memory"),
]


def build_of(target: str) -> devices.Build:
    (build,) = [device.build for device in devices.DEVICES if device.target == target]
    assert build is not None
    return build


@pytest.mark.parametrize(("target", "registers", "shared", "warps", "blocks", "limit"), NVIDIA)
def test_occupancy_is_nvidias(
    target: str, registers: int, shared: int, warps: int, blocks: int, limit: str
) -> None:
    result = occupancy(build_of(target), registers=registers, shared_bytes=shared, warps=warps)
    assert (result.blocks, result.limit) == (blocks, limit)


@pytest.mark.parametrize(
    ("registers", "waves"),
    [(1, 8), (64, 8), (65, 7), (72, 7), (110, 4), (128, 4), (256, 2), (512, 1)],
)
def test_occupancy_is_amds(registers: int, waves: int) -> None:
    result = occupancy(build_of("mi300x"), registers=registers, shared_bytes=0, warps=4)
    assert result.blocks == waves
    assert result.share == waves / 8


def test_tensor_memory_counts() -> None:
    result = occupancy(build_of("b200"), registers=32, shared_bytes=0, warps=4, tensor_columns=256)
    assert (result.blocks, result.limit) == (2, "tensor memory")
