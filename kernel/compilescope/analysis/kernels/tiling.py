"""How a kernel's iterations are divided: loops, tiles, vectors, threads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ...report import Autotuning, Kernel, Tiling, VariantReport
from .grid import GRID_TYPE, LOOP, PARALLEL, extent_of, numels_of

CHOSEN = "chosen at the first call"
SCALAR = "scalar: Inductor wrote no vector code for it"
NO_LOOP = "scalar: it has no loop"
VECTOR = "vectors"
SERIAL = "one thread"
_THREADS = re.compile(r"num_threads\((\d+)\)")
_VECTOR = re.compile(r"at::vec::Vectorized<(\w+)>")
_BLOCK = re.compile(r"'(\w*BLOCK\w*)':\s*'constexpr'")
_FIXED = re.compile(r"^\s+(\w*BLOCK\w*)\s*: tl\.constexpr = (.+)$", re.M)
_BITS = {"float": 32, "int32_t": 32, "double": 64, "int64_t": 64, "half": 16, "bfloat16": 16}
_SETS = {
    128: "128 bits (NEON, SSE)",
    256: "256 bits (AVX2)",
    512: "512 bits (AVX-512)",
}
_TRANSPOSED = "; tiles are transposed in registers"
_MASKED = "; the rest of a loop is done with masked vectors"


def add_tilings(kernels: Sequence[Kernel]) -> None:
    """Fill in ``tiling`` of generated kernels, from their source."""
    for kernel in kernels:
        if not kernel.source:
            continue
        if kernel.language == "triton":
            kernel.tiling = _triton(kernel)
        elif kernel.language == "cpp":
            kernel.tiling = _cpp(kernel.source)


def add_chosen(kernels: Sequence[Kernel], autotunings: Sequence[Autotuning]) -> None:
    """Insert the block sizes that torch chose by autotuning, if it did."""
    chosen = {
        tuning.kernel: choice.config
        for tuning in autotunings
        if tuning.kind == "config" and tuning.kernel
        for choice in tuning.choices
        if choice.chosen
    }
    for kernel in kernels:
        _put_config(kernel, chosen.get(kernel.name, {}))


def add_usual(variant: VariantReport) -> None:
    """Insert the block sizes of the launch configuration that represents a compiled kernel."""
    for compilation in variant.compilations:
        for kernel in compilation.kernels:
            usual = next((config.config for config in kernel.configs if config.usual), {})
            _put_config(kernel, usual)


def _put_config(kernel: Kernel, config: Mapping[str, str]) -> None:
    if kernel.tiling is not None:
        tile = kernel.tiling.tile
        kernel.tiling.tile = {name: config.get(name, size) for name, size in tile.items()}


def _triton(kernel: Kernel) -> Tiling:
    numels = numels_of(kernel.grid)
    blocks: dict[str, str] = dict.fromkeys(_BLOCK.findall(kernel.source), CHOSEN)
    for name, value in _FIXED.findall(kernel.source):
        if value not in blocks:  # RBLOCK: tl.constexpr = R0_BLOCK is only another name
            blocks[name] = value.strip()
    match = GRID_TYPE.search(kernel.source)
    return Tiling(
        extents=[f"{name.removesuffix('numel').strip('_')}: {size}" for name, size in numels],
        tile=blocks,
        threads=f"blocks of a {match.group(1)}" if match else "",
    )


def _cpp(source: str) -> Tiling:
    tiling = Tiling()
    types = dict.fromkeys(_VECTOR.findall(source))
    loops: dict[str, tuple[str, str]] = {}
    order: list[str] = []
    parallel: list[str] = []
    pending = 0
    for line in source.split("\n"):
        pragma = PARALLEL.match(line)
        if pragma:
            pending = int(pragma.group(1) or 1)
            continue
        loop = LOOP.match(line)
        if loop is None:
            continue
        name, end, step = loop["name"], extent_of(loop["end"]), extent_of(loop["step"])
        text = f"{name}: {end}"
        if text not in order:
            order.append(text)
        if pending:
            parallel.append(text)
            pending -= 1
        if step not in ("", "1"):
            loops[name] = (end, step)
    tiling.extents = order
    tiling.tile = {name: step for name, (_, step) in loops.items()}
    steps = [int(step) for _, step in loops.values() if step.isdigit()]
    if types and steps:
        tiling.vector_width = min(steps)
        bits = (_BITS[name] * tiling.vector_width for name in types if name in _BITS)
        tiling.vector = next((_SETS[number] for number in bits if number in _SETS), VECTOR)
        if "transpose_mxn" in source:
            tiling.vector += _TRANSPOSED
        if "masked_load" in source or "_masked_reduce(" in source:
            tiling.vector += _MASKED
    else:
        tiling.vector = SCALAR if order else NO_LOOP
    threads = _THREADS.search(source)
    if parallel:
        count = f" over {threads.group(1)} threads" if threads else ""
        tiling.threads = f"parallel {', '.join(dict.fromkeys(parallel))}{count}"
    else:
        tiling.threads = SERIAL
    return tiling
