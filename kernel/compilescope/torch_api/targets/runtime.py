"""Provides the GPU runtime that torch needs to trace for a GPU that this machine lacks.

A CPU build lacks CUDA's device guard, without which autograd aborts the process; CUDA's hooks,
without which its engine finds no accelerator; and kernels for the constants that torch creates on
the device while it compiles. ``runtime.cpp`` replaces all of these. It is built once for
each torch and cached in torch's cache folder.

Relies on ``torch._inductor.cpp_builder.get_cpp_compiler`` and the symbols that the C++ file names.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

import torch

from ...report.devices import Build
from ...report.errors import CompilescopeError
from .device import capability

_SOURCE = Path(__file__).with_suffix(".cpp")
_SECONDS = 600.0
"""In seconds: more than the build takes on a busy machine; on an idle one it takes a few."""
CUDNN_VERSION = 91900
"""The version of the wheels for `device.CUDA_VERSION`, or later; used if this build has none."""


def load_replacement(build: Build) -> None:
    """Loads the replacement runtime for the rest of the process.

    Raises
    ------
    CompilescopeError
        There is no C++ compiler, or it cannot build the replacement.
    """
    try:
        library = ctypes.CDLL(str(_built()))
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        raise CompilescopeError(
            "Code for a GPU that is not there cannot be generated.",
            f"What stands in for the GPU's runtime cannot be built: {_first_line(error)}.",
            "It takes a C++ compiler, as torch.compile does on the CPU: install g++, or name one "
            "in CXX.",
        ) from error
    major, minor = capability(build)
    hip = build.backend == "hip"
    cudnn = torch.backends.cudnn.version() or CUDNN_VERSION  # type: ignore[no-untyped-call]
    library.compilescope_stand_in(
        ctypes.c_int64(major),
        ctypes.c_int64(minor),
        ctypes.c_bool(hip),
        ctypes.c_int64(0 if hip else cudnn),
    )


def _built() -> Path:
    """The path of the library, which is built if it does not exist yet."""
    from torch._inductor.cpp_builder import get_cpp_compiler

    from ..process import caches

    source = _SOURCE.read_bytes()
    identity = f"{torch.__version__} {torch.version.git_version} {torch.__file__}".encode()
    name = hashlib.sha256(source + identity).hexdigest()[:16]
    library = caches.own_folder() / f"target_runtime_{name}.so"
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    # Several targets may start in parallel: one builds, the others wait for it.
    with library.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            _build(get_cpp_compiler(), library)
    return library


def _build(compiler: str, library: Path) -> None:
    handle, unfinished = tempfile.mkstemp(suffix=".so", dir=library.parent)
    os.close(handle)
    try:
        subprocess.run(
            _command(compiler, unfinished),
            check=True,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        Path(unfinished).replace(library)
    finally:
        Path(unfinished).unlink(missing_ok=True)


def _command(compiler: str, library: str) -> list[str]:
    folder = Path(torch.__file__).parent
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return [
        compiler,
        *("-shared", "-fPIC", "-O1", "-std=c++20", "-w", f"-D_GLIBCXX_USE_CXX11_ABI={abi}"),
        # Only the operators that the source names are declared: a sixth of the time.
        "-DAT_PER_OPERATOR_HEADERS",
        f"-I{folder / 'include'}",
        f"-I{folder / 'include' / 'torch' / 'csrc' / 'api' / 'include'}",
        str(_SOURCE),
        *("-o", library, f"-L{folder / 'lib'}", "-ltorch_cpu", "-lc10"),
    ]


def _first_line(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        lines: list[str] = [line for line in error.stderr.splitlines() if "error" in line]
        return (lines or [str(error)])[0]
    return (str(error).splitlines() or [type(error).__name__])[0]
