"""Compiles Inductor's Triton kernels for a device that this machine lacks.

Relies on ``torch._inductor.runtime.triton_heuristics`` (CachingAutotuner: configs,
_precompile_config, which calls ``triton.compile`` and would then load the result;
_dynamic_scale_rblock, which calls _make_launchers and reloads a kernel with _reload_kernel;
compile_by_disabling_pipelining, which _make_launchers calls), on
``triton_helpers.set_driver_to_gpu``, on Triton's CompiledKernel (asm, metadata) and its knobs, and
on the tools that come with Triton: cuobjdump and nvdisasm.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import logging
import os
import re
import subprocess
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import triton
import triton.language as tl
from torch._inductor.runtime import triton_helpers, triton_heuristics
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from ...report.devices import Build
from ..process.patching import patched

FILE = "kernel.py"
"""The file name of a kernel's source in the assembly."""

_REGISTERS = re.compile(r"\bREG:(\d+)")
_SPILLED = re.compile(r"(\d+) bytes spill stores")
_PTXAS = re.compile(r"^ptxas\s.*?(?:error|fatal)\s*:\s*(.+)$", re.M)
_AMD = re.compile(r"^\s+(?:- )?\.(vgpr_count|vgpr_spill_count|sgpr_count):\s+(\d+)", re.M)
_TIMEOUT_S = 120.0


@dataclass
class Loaded:
    """A loaded kernel with the configurations that Inductor would try.

    Attributes
    ----------
    autotuner
        torch's object.
    configs
        torch's objects; see `describe`.
    """

    autotuner: Any
    configs: list[Any]


@dataclass
class Compiled:
    """Triton's result for a kernel under one configuration."""

    texts: dict[str, str] = field(default_factory=dict)
    """Form → the compiler's text; ``sass`` is the output of nvdisasm."""
    resources: dict[str, float] = field(default_factory=dict)
    """registers, scalar_registers (AMD), spills, shared_bytes, warps, stages, tensor_columns."""
    absent: dict[str, str] = field(default_factory=dict)
    """Form → why its text is missing."""
    why: str = ""
    """Why compilation failed."""


class _Stopped(BaseException):
    """Carries the result past the rest of torch's code, which would load the kernel."""

    def __init__(self, result: Any) -> None:
        self.result = result


@triton.jit
def _little(pointer):  # type: ignore[no-untyped-def]  # its types are Triton's
    tl.store(pointer, tl.load(pointer))


@functools.cache
def prepare(build: Build) -> None:
    """Makes Triton do its work of once per process: hash its own files, load its compiler.

    Forks of this process then skip it.
    """
    arch: Any = int(build.arch) if build.backend == "cuda" else build.arch
    target = GPUTarget(build.backend, arch, build.warp_size)
    with tempfile.TemporaryDirectory(prefix="compilescope-triton-") as folder:
        before = os.environ.get("TRITON_CACHE_DIR")
        os.environ["TRITON_CACHE_DIR"] = folder
        try:
            triton.compile(ASTSource(_little, {"pointer": "*fp32"}), target=target)
        finally:
            os.environ.pop("TRITON_CACHE_DIR")
            if before is not None:
                os.environ["TRITON_CACHE_DIR"] = before


def load(source: str, folder: Path) -> Loaded:
    """Defines a kernel as Inductor's generated code would, without compiling it.

    Parameters
    ----------
    source
        Inductor's source, with its decorators.
    folder
        A separate folder, in which the source must stay until it is compiled.

    Raises
    ------
    Exception
        Whatever the source raises.
    LookupError
        The source defines no Inductor kernel.
    """
    path = folder / FILE
    path.write_text(source, encoding="utf-8")
    module = types.ModuleType("kernel")
    module.__file__ = str(path)
    with without_driver():
        exec(compile(source, str(path), "exec"), vars(module))
    kind = triton_heuristics.CachingAutotuner
    autotuners = [value for value in vars(module).values() if isinstance(value, kind)]
    if not autotuners:
        raise LookupError("the source defines no kernel that Inductor would launch")
    return Loaded(autotuners[-1], list(autotuners[-1].configs or ()))


def describe(config: Any) -> dict[str, str]:
    """A configuration's block sizes, warps and stages, by torch's names."""
    described = {name: str(value) for name, value in config.kwargs.items()}
    described |= {name: str(getattr(config, name)) for name in ("num_warps", "num_stages")}
    for name, usual in (("num_ctas", 1), ("maxnreg", None)):
        value = getattr(config, name, usual)
        if value not in (usual, None):
            described[name] = str(value)
    return described


def scaled(loaded: Loaded, registers: Mapping[int, int]) -> list[Any]:
    """Configurations that torch adds for a reduction that uses too many registers.

    Parameters
    ----------
    registers
        Index of a compiled configuration in ``loaded.configs`` → registers per thread.
    """
    autotuner, added = loaded.autotuner, []

    def result(config: Any, count: int) -> Any:
        return SimpleNamespace(config=config, kernel=SimpleNamespace(n_regs=count))

    def add(config: Any) -> Any:
        added.append(config)
        return result(config, 0)

    replaced = {
        "compile_results": [result(loaded.configs[number], n) for number, n in registers.items()],
        "_precompile_config": add,
        "_make_launchers": lambda: None,
        "_reload_kernel": lambda: autotuner,
    }
    before = {name: vars(autotuner)[name] for name in replaced if name in vars(autotuner)}
    vars(autotuner).update(replaced)
    try:
        autotuner._dynamic_scale_rblock()
    finally:
        for name in replaced:
            vars(autotuner).pop(name)
        vars(autotuner).update(before)
    return added


def unpipelined(loaded: Loaded) -> list[Any]:
    """The configuration without pipelining that torch tries if none fits in shared memory.

    Empty if no configuration is pipelined, or torch does not try this.
    """
    autotuner = loaded.autotuner
    tries = hasattr(autotuner, "compile_by_disabling_pipelining")
    tries &= autotuner.inductor_meta.get("dynamic_disable_pipelining", True)
    config = copy.deepcopy(loaded.configs[-1])
    if not tries or max(config.num_stages, config.kwargs.get("NUM_STAGES", 1)) <= 1:
        return []
    config.num_stages = 1
    if "NUM_STAGES" in config.kwargs:
        config.kwargs["NUM_STAGES"] = 1
    return [config]


def identity(loaded: Loaded, config: Any) -> str:
    """Everything that determines Triton's result for a kernel and configuration, with line numbers.

    A kernel of a Python wrapper and one of a C++ wrapper may have the same identity.
    """

    def cache_key(_: Any, source: Any, target: Any = None, options: Any = None) -> str:
        return repr((source.hash(), target, sorted((options or {}).items())))

    return str(_instead_of_compiling(loaded.autotuner, config, cache_key))


def compile_config(loaded: Loaded, config: Any) -> Compiled:
    """Compiles a kernel under one configuration, for the device that its source names.

    Call it in a process that does nothing else: it turns off logging and captures output. Triton
    caches in its usual folder.
    """
    logging.disable(logging.CRITICAL)
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), _verbose_ptxas():
            binary = _instead_of_compiling(loaded.autotuner, config, _compile)
    except Exception as error:  # noqa: BLE001 - a compiler that fails is an answer
        return Compiled(why=_reason(error))
    compiled = Compiled({form: text for form, text in binary.asm.items() if isinstance(text, str)})
    compiled.texts.pop("source", None)
    compiled.resources = {
        "shared_bytes": float(binary.metadata.shared),
        "warps": float(binary.metadata.num_warps),
        "stages": float(config.num_stages),
    }
    columns = getattr(binary.metadata, "tmem_size", None)
    if columns:
        compiled.resources["tensor_columns"] = float(columns)
    if "cubin" in binary.asm:
        _of_cubin(compiled, binary.asm["cubin"], printed.getvalue())
    elif "amdgcn" in compiled.texts:
        counts = {name: float(count) for name, count in _AMD.findall(compiled.texts["amdgcn"])}
        compiled.resources["registers"] = counts["vgpr_count"]
        compiled.resources["scalar_registers"] = counts["sgpr_count"]
        compiled.resources["spills"] = 4 * counts["vgpr_spill_count"]
    return compiled


def _instead_of_compiling(autotuner: Any, config: Any, read: Callable[..., Any]) -> Any:
    """The result of ``read`` for ``triton.compile`` and torch's arguments for it."""

    def stop(compile_: Any, *args: Any, **kwargs: Any) -> Any:
        raise _Stopped(read(compile_, *args, **kwargs))

    try:
        with without_driver(), patched(triton, "compile", stop):
            autotuner._precompile_config(config)
    except _Stopped as stopped:
        return stopped.result
    raise RuntimeError("torch compiles kernels by another way than triton.compile")


def _compile(compile_: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return compile_(*args, **kwargs)


@contextlib.contextmanager
def without_driver() -> Iterator[None]:
    """Lets the block define and compile kernels without a GPU driver."""
    with patched(triton_helpers, "set_driver_to_gpu", lambda _: None):
        yield


@contextlib.contextmanager
def _verbose_ptxas() -> Iterator[None]:
    """Makes ptxas print its report on registers and spills."""
    before = knobs.nvidia.dump_ptxas_log
    knobs.nvidia.dump_ptxas_log = True
    try:
        yield
    finally:
        knobs.nvidia.dump_ptxas_log = before


def _of_cubin(compiled: Compiled, cubin: bytes, log: str) -> None:
    """Adds a cubin's SASS, registers and spills."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        usage = _tool("cuobjdump", "--dump-resource-usage", file.name)
        registers = _REGISTERS.search(usage)
        if registers:
            compiled.resources["registers"] = float(registers.group(1))
        try:
            # -gp: print the PTX line that each instruction came from.
            compiled.texts["sass"] = _tool("nvdisasm", "-c", "-gp", "-ndf", file.name)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            compiled.absent["sass"] = f"nvdisasm failed: {error}"
    spilled = _SPILLED.findall(log)
    if spilled:
        compiled.resources["spills"] = float(sum(map(int, spilled)))


def _tool(name: str, *args: str) -> str:
    """The output of a tool that comes with Triton."""
    path = getattr(knobs.nvidia, name).path
    result = subprocess.run(
        [path, *args], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
    )
    if result.returncode:
        raise RuntimeError(result.stderr.strip().split("\n")[-1])
    return result.stdout


def _reason(error: BaseException) -> str:
    """Why a kernel could not be compiled, in a line or two."""
    text = str(error).strip()
    messages = _PTXAS.findall(text)
    if messages:
        return f"ptxas: {messages[0]}"
    return f"{type(error).__name__}: {text or 'Triton says no more'}"
