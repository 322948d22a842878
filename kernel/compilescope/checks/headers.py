"""The headers that generated C++ includes: Python's, torch's, the GPU's."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from ..report.checkup import Check
from ..torch_api.inductor import toolchain
from .compiler import with_compiler
from .context import CheckContext, CheckFunction, not_needed, ok, problem, run

SUBJECT = "Headers"


@with_compiler("Python.h")
def python_headers(context: CheckContext) -> Check:
    """Python.h, which wrappers in C++ and Triton's launchers include."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(sysconfig.get_paths()["include"])
    built = _preprocess(context, "Python.h", "cpu")
    if built is not None:
        return problem(
            "Python.h",
            f"{built.partition(chr(10))[0]} Searched in {folder}.",
            f"Install Python's development files (Debian: apt-get install python{version}-dev).",
            detail=built,
        )
    return ok("Python.h", f"The compiler finds it; {folder}")


@with_compiler("torch's headers")
def torch_headers(context: CheckContext) -> Check:
    """What every C++ wrapper for the processor includes."""
    header = toolchain.wrapper_header("cpu")
    failed = _preprocess(context, header, "cpu")
    if failed is not None:
        return problem(
            "torch's headers",
            failed.partition("\n")[0],
            "Reinstall torch, or install a C++ compiler with its complete standard library.",
            detail=failed,
        )
    return ok("torch's headers", f"{header} and everything that it includes are installed.")


@with_compiler("the GPU's headers")
def gpu_headers(context: CheckContext) -> Check:
    """What every C++ wrapper for a GPU includes."""
    name = "the GPU's headers"
    backend = toolchain.gpu_backend()
    if backend not in ("cuda", "hip"):
        return not_needed(name, "This torch is built without CUDA and ROCm.")
    try:
        failed = _preprocess(context, toolchain.wrapper_header("cuda"), "cuda")
    except OSError as error:  # as torch tells that it finds no toolkit
        failed = str(error)
    if failed is not None:
        return problem(
            name,
            failed.partition("\n")[0],
            "Install the CUDA toolkit's headers for torch's CUDA version, and set CUDA_HOME. "
            "The Python wrapper works without them.",
            detail=failed,
        )
    return ok(name, "The headers that a C++ wrapper for the GPU includes are installed.")


def _preprocess(context: CheckContext, header: str, device: str) -> str | None:
    """What the compiler says where a header, or one that it includes, is missing."""
    folder = context.place(f"headers-{device}-{Path(header).stem}")
    source = folder / "includes.cpp"
    source.write_text(f"#include <{header}>\n", encoding="utf-8")
    command, _ = toolchain.build_command(source, kind="preprocessed", device=device)
    done = run(command, folder=folder)
    return None if done.ok else f"{done.first}\n{done.output}"


CHECKS: tuple[CheckFunction, ...] = (python_headers, torch_headers, gpu_headers)
