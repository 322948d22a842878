"""Compiles, for a device that this machine lacks, the kernels that a C++ wrapper needs.

torch 2.11's C++ wrapper, and AOTInductor's of any version, contain each kernel's compiled name,
warps, shared memory and launch grid. torch obtains them by running every kernel on the device while
it generates the wrapper; here each kernel is compiled and none runs.

Relies on ``PythonWrapperCodegen.generate_and_run_autotune_block`` (kernel_autotune_defs),
``AsyncCompile.triton``, ``codecache._load_triton_kernel_from_source``, ``CachingAutotuner``
(_precompile_config, whose result has make_launcher with the arguments; save_gpu_kernel) and
Triton's ``CompiledKernel._init_handles``, which would load the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...report.devices import Build
from ..process.patching import patched
from .assembly import describe, without_driver


def compile_without_running(build: Build, tell: Callable[..., None]) -> None:
    """Makes torch compile kernels instead of running them to choose, for the rest of the process.

    Parameters
    ----------
    tell
        Called whenever torch would have measured several configurations.
    """
    from torch._inductor.codegen.wrapper import PythonWrapperCodegen

    wrapper: Any = PythonWrapperCodegen

    def compile_all(self: Any) -> None:
        for name, source in _defined(self.kernel_autotune_defs.getvalue()).items():
            _compile(name, source, build, tell)
        # As torch does: the code shows the block that it would have run.
        self.kernel_autotune_defs.splice(_WAIT)

    wrapper.generate_and_run_autotune_block = compile_all


_WAIT = """
async_compile.wait(globals())
del async_compile
"""


def _defined(definitions: str) -> dict[str, str]:
    """Name → source of the Triton kernels that a wrapper defines."""
    from torch._inductor.async_compile import AsyncCompile

    sources: dict[str, str] = {}

    def note(_: Any, self: Any, name: str, source: str, *args: Any, **kwargs: Any) -> None:
        sources[name] = source

    with patched(AsyncCompile, "triton", note):
        exec(definitions, {})
    return sources


def _compile(name: str, source: str, build: Build, tell: Callable[..., None]) -> None:
    """Compiles a kernel under its first configuration that fits, and stores it for the wrapper."""
    from torch._inductor import codecache
    from triton.compiler import CompiledKernel

    load: Any = codecache._load_triton_kernel_from_source
    with without_driver(), patched(CompiledKernel, "_init_handles", lambda *_: None):
        autotuner = load(name, source)
        configs = list(autotuner.configs or ())
        for config in configs:
            result = autotuner._precompile_config(config)
            if result.kernel.metadata.shared <= build.shared_per_block_bytes:
                break
        else:
            raise RuntimeError(
                f"None of the {len(configs)} launch configurations of {name} has room in the "
                f"device's {build.shared_per_block_bytes:,} bytes of shared memory."
            )
        autotuner.save_gpu_kernel(0, result.make_launcher())
    if len(configs) > 1:
        chosen = describe(result.config)
        tell(
            kind="autotuning",
            operator=name,
            chosen=", ".join(f"{key}={value}" for key, value in chosen.items()),
            rule="There is no device to measure on: the first configuration that has room.",
            instead=f"torch times all {len(configs)} candidates on the device, and takes the "
            "fastest.",
            node="",
            kernel=name,
        )
