"""The tools that Inductor would use, and the commands that it would run.

Relies on ``torch._inductor.cpp_builder`` (get_cpp_compiler, CppTorchOptions,
CppTorchDeviceOptions, CppBuilder), ``torch._inductor.cpu_vec_isa.pick_vec_isa``,
``torch._inductor.codecache`` (_get_cpp_wrapper_header, _precompile_header),
``torch._dynamo.eval_frame.check_if_dynamo_supported`` and where Triton's package keeps its tools;
from 2.11 to 2.15.
"""

from __future__ import annotations

import importlib.util
import inspect
import shlex
from pathlib import Path
from typing import Any

import torch
from torch._dynamo import eval_frame
from torch._inductor import codecache, cpp_builder, cpu_vec_isa
from torch._inductor.exc import InvalidCxxCompiler

from .headers import header_folder as header_folder
from .headers import precompiles as precompiles

NoCompiler = InvalidCxxCompiler
"""What torch raises where it needs a C++ compiler and finds none."""


def compiler() -> str:
    """The C++ compiler's command.

    Raises
    ------
    NoCompiler
        There is no working compiler; torch's own error, which lists what it tried.
    """
    return str(cpp_builder.get_cpp_compiler())


def is_gcc() -> bool:
    """Whether the compiler is g++."""
    return bool(cpp_builder.is_gcc())


def build_command(
    source: Path, *, kind: str = "library", device: str = "cpu"
) -> tuple[list[str], Path]:
    """The command with which Inductor would build a source, and its output file.

    Parameters
    ----------
    source
        A ``.cpp`` file. The output is written next to it, under the same name.
    kind
        ``library``, ``header`` (precompiled) or ``preprocessed``.
    device
        ``cpu``, or the device of the C++ wrapper: ``cuda``.
    """
    switches: dict[str, Any] = {
        "library": {},
        "header": {"precompiling": True},
        "preprocessed": {"preprocessing": True},
    }[kind]
    options: Any
    if device == "cpu":
        options = cpp_builder.CppTorchOptions(
            vec_isa=cpu_vec_isa.invalid_vec_isa, include_pytorch=False, **switches
        )
    else:
        options = cpp_builder.CppTorchDeviceOptions(
            vec_isa=cpu_vec_isa.invalid_vec_isa, device_type=device, **switches
        )
    # The compiler finds a precompiled header by its header's name plus an ending.
    name = source.name if kind == "header" else source.stem
    builder = cpp_builder.CppBuilder(name, [str(source)], options, output_dir=str(source.parent))
    return shlex.split(builder.get_command_line()), Path(builder.get_target_file_path())


def header_tools() -> list[str]:
    """Programs besides the compiler that precompiling headers needs."""
    precompile: Any = getattr(codecache, "_precompile_header", None)
    text = inspect.getsource(inspect.unwrap(precompile)) if precompile is not None else ""
    return ["openssl"] if '"openssl"' in text else []


def wrapper_header(device: str) -> str:
    """The header that every C++ wrapper for a device includes."""
    return str(codecache._get_cpp_wrapper_header(device))


def vector_instructions() -> str:
    """The processor's vector instructions that C++ kernels use; empty for none.

    torch compiles and loads a program for each set that it considers, once per process.
    """
    instructions = cpu_vec_isa.pick_vec_isa()
    return str(instructions) if instructions else ""


def unsupported() -> str:
    """Why torch.compile does not work on this Python; empty if it does."""
    try:
        eval_frame.check_if_dynamo_supported()
    except RuntimeError as error:
        return str(error)
    return ""


def triton_tools() -> dict[str, Path]:
    """NVIDIA's tools that come with Triton: name → file, which may not exist."""
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        return {}
    folder = Path(spec.origin).parent / "backends" / "nvidia" / "bin"
    return {name: folder / name for name in ("ptxas", "cuobjdump", "nvdisasm")}


TRITON_PROBE = str(Path(__file__).with_name("triton_probe.py"))
"""A program that compiles a kernel with Triton and prints the result."""


def gpu_backend() -> str:
    """Torch's GPU backend: ``cuda``, ``hip`` or ``xpu``; empty for a CPU build."""
    if torch.version.hip:
        return "hip"
    if torch.version.cuda:
        return "cuda"
    return "xpu" if getattr(torch.version, "xpu", None) else ""
