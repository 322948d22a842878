"""Compiles a target's kernels: every Triton kernel of a variant under every configuration."""

from __future__ import annotations

import msgspec

from ..analysis.kernels.occupancy import Occupancy, occupancy
from ..analysis.kernels.tiling import add_usual
from ..progress.progress import Monitor
from ..report import Kernel, KernelConfig, VariantReport
from ..report.devices import Build, Device
from ..report.problem import Problem
from .assembly_request import (
    Assembled,
    AssembledKernel,
    AssemblyReply,
    AssemblyRequest,
    RequestedKernel,
)
from .unsupported_kernels import why_left_out
from .worker_pool import WorkerPool

LONG_TEXT = 100_000
"""In characters: longer texts are kept for one configuration only, to limit the report's size."""


def add_assembly(variant: VariantReport, pool: WorkerPool, monitor: Monitor) -> None:
    """Compiles the Triton kernels of a target's variant, and adds the results to the report.

    Kernels that are compiled already stay unchanged. A kernel that cannot be compiled states why.

    Raises
    ------
    CompilescopeError
        The target's process failed.
    Cancelled
        The monitor was canceled.
    """
    assert variant.target is not None, "it is a target's variant"
    by_source: dict[str, list[Kernel]] = {}
    for kernel in (
        compiled_kernel
        for compilation in variant.compilations
        for compiled_kernel in compilation.kernels
    ):
        if why := why_left_out(kernel):
            kernel.absent["assembly"] = why
        elif not kernel.configs:
            by_source.setdefault(kernel.source, []).append(kernel)
    if not by_source:
        return
    requested = [RequestedKernel(same[0].name, source) for source, same in by_source.items()]
    payload = msgspec.msgpack.encode(AssemblyRequest(requested))
    answer = pool.request(variant.target.name, "assembly", payload, monitor)
    assemblies = msgspec.msgpack.decode(answer, type=AssemblyReply)
    for same, assembled in zip(by_source.values(), assemblies.kernels, strict=True):
        for kernel in same:
            _fill(kernel, assembled, variant.target.device)
        if "assembly" in same[0].absent:
            problem = _problem(same[0], variant.target.device)
            if problem not in variant.problems:
                variant.problems.append(problem)
    add_usual(variant)


def _fill(kernel: Kernel, assembled: AssembledKernel, device: Device) -> None:
    """Adds to a kernel its compiled forms."""
    assert device.build is not None, "a target has one"
    kernel.absent.pop("assembly", None)
    kernel.configs = [_config(config, device.build) for config in assembled.configs]
    chosen = next(
        (n for n, kernel_config in enumerate(kernel.configs) if not kernel_config.why), None
    )
    if chosen is None:
        reasons = [assembled.why, *(config.why for config in kernel.configs)]
        kernel.absent["assembly"] = next(
            filter(None, reasons), "torch has no configuration for it."
        )
        return
    usual = kernel.configs[chosen]
    kernel.assembly, kernel.assembly_lines = usual.assembly, usual.assembly_lines
    kernel.resources, kernel.limit = usual.resources, usual.limit
    kernel.absent |= usual.absent
    for config in kernel.configs:
        if config is not usual:
            _shorten(config)
    kernel.configs[chosen] = KernelConfig(name=usual.name, config=usual.config, usual=True)


def _config(assembled: Assembled, build: Build) -> KernelConfig:
    config = KernelConfig(
        name=", ".join(f"{name}={value}" for name, value in assembled.config.items()),
        config=assembled.config,
        resources=assembled.resources,
        absent=assembled.absent,
        why=assembled.why,
    )
    if assembled.why:
        return config
    counts = {name: int(value) for name, value in assembled.resources.items()}
    if "registers" in counts:
        filled = occupancy(
            build,
            registers=counts["registers"],
            shared_bytes=counts["shared_bytes"],
            warps=counts["warps"],
            scalar_registers=counts.get("scalar_registers", 0),
            tensor_columns=counts.get("tensor_columns", 0),
        )
        config.resources["occupancy"] = filled.share
        config.resources["blocks_per_multiprocessor"] = float(filled.blocks)
        config.limit = filled.limit
        config.why = "" if filled.blocks else _why(filled, counts, build)
    if not config.why:
        config.assembly, config.assembly_lines = assembled.texts, assembled.lines
    return config


def _shorten(config: KernelConfig) -> None:
    """Leaves out long texts."""
    for form, text in list(config.assembly.items()):
        if len(text) > LONG_TEXT:
            del config.assembly[form], config.assembly_lines[form]
            config.absent[form] = (
                f"It has {len(text):,} characters. Texts of more than {LONG_TEXT:,} are kept of "
                "the configuration that stands for the kernel only."
            )


def _why(filled: Occupancy, counts: dict[str, int], build: Build) -> str:
    """Why not a single block fits."""
    threads = counts["warps"] * build.warp_size
    needs = {
        "shared memory": (f"{counts['shared_bytes']:,} bytes", build.shared_per_block_bytes),
        "registers": (
            f"{counts['registers']} registers for each of {threads} threads",
            build.registers_per_multiprocessor,
        ),
        "threads": (f"{threads} threads", build.threads_per_block),
        "tensor memory": (f"{counts.get('tensor_columns', 0)} columns", 512),
    }
    needed, available = needs[filled.limit]
    return f"Out of {filled.limit}: a block needs {needed}, and there are {available:,}."


def _problem(kernel: Kernel, device: Device) -> Problem:
    return Problem(
        severity="warning",
        what=f"{kernel.name} cannot be compiled for {device.name}.",
        why=kernel.absent["assembly"],
    )
