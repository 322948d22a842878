"""Describes where a report is made: versions, processors, and Inductor's C++ compiler.

Relies on ``torch._inductor.cpp_builder.get_cpp_compiler``: the same in 2.11 to 2.15.
"""

from __future__ import annotations

import functools
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import torch
from torch._inductor.cpp_builder import get_cpp_compiler

from ...report import Environment
from ...version import __version__

_TRITON = (
    "triton",
    "pytorch-triton",
    "pytorch-triton-rocm",
    "pytorch-triton-xpu",
    "triton-windows",
)
_NVIDIA = Path("/proc/driver/nvidia/gpus")
_CPUINFO = Path("/proc/cpuinfo")


def environment() -> Environment:
    """Describes this process. Unknown fields are empty.

    Imports nothing large and never initializes CUDA, since reading a GPU's name that way takes a
    second, and memory on the device.
    """
    return Environment(
        torch=str(torch.__version__),
        triton=next((version for name in _TRITON if (version := _version(name))), None),
        python=platform.python_version(),
        platform=_platform(),
        cpu=_cpu(),
        threads=torch.get_num_threads(),
        gpus=_gpus(),
        compiler=_compiler(),
        compilescope=__version__,
    )


@functools.cache
def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


@functools.cache
def _platform() -> str:
    return platform.platform(terse=True)


@functools.cache
def _cpu() -> str:
    if _CPUINFO.exists():
        for line in _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    if platform.system() == "Darwin":
        return _first_line("sysctl", "-n", "machdep.cpu.brand_string")
    return platform.processor() or platform.machine()


def _gpus() -> list[str]:
    if not torch.backends.cuda.is_built():  # type: ignore[no-untyped-call]
        return []
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    # The driver lists GPUs without CUDA, but not which of them are visible: its names are used only
    # if the counts agree.
    names = [
        line.partition(":")[2].strip()
        for file in sorted(_NVIDIA.glob("*/information"))
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines()
        if line.startswith("Model:")
    ]
    count = torch.cuda.device_count()
    return names if len(names) == count else ["CUDA device"] * count


def _compiler() -> str:
    """The compiler's first line about itself; empty if Inductor finds none."""
    try:
        command = get_cpp_compiler()
    except RuntimeError:
        return ""
    return _first_line(command, "--version")


@functools.lru_cache(maxsize=8)
def _first_line(*command: str) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).splitlines()
    return lines[0].strip() if lines else ""
